//! The side that sends.

use std::io;
use std::ops::{Deref, DerefMut};

use crate::Error;
use crate::header::MOST_SLOTS;
use crate::life::Lifeline;
use crate::memory::Memory;
use crate::record::{Continuation, Lies, WORD, Word, lead_bytes, record_bytes};
use crate::sync::{Arc, Ordering};
use crate::wait::{Notices, Waiter, Waiting};

/// The only sender of a ring.
#[derive(Debug)]
pub struct Producer {
    memory: Arc<Memory>,
    /// Where the next record goes, bytes since the beginning.
    head: u64,
    /// The consumer's tail as last read.
    seen_tail: u64,
    /// The first record that the consumer has not been shown: where it is, and its word.
    held_back: Option<(u64, u64)>,
    slots: FreeSlots,
    loaned: Option<Loaned>,
    waiter: Waiter,
    armed: bool,
}

/// The pool's slots that are free, the one freed last on top: it is what caches still hold.
#[derive(Debug)]
struct FreeSlots {
    stack: Vec<u32>,
    /// Which of the header's notes of freed slots is next, modulo their number.
    next: usize,
}

/// A place that was found for a message.
#[derive(Clone, Copy, Debug)]
struct Loaned {
    bytes: usize,
    place: Place,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Ring,
    Slot(u32),
}

/// Where the payload of `bytes` of a record at `position` goes.
#[inline]
fn payload_target(memory: &Memory, position: u64, bytes: usize) -> *mut u8 {
    memory.target(position + lead_bytes(position, bytes) as u64, bytes)
}

impl Producer {
    pub(crate) fn new(memory: Arc<Memory>, waiting: Waiting, life: Lifeline) -> Self {
        let stack = (0..memory.geometry.slots).rev().collect();
        Self {
            memory,
            head: 0,
            seen_tail: 0,
            held_back: None,
            slots: FreeSlots { stack, next: 0 },
            loaned: None,
            waiter: Waiter::new(waiting, life),
            armed: true,
        }
    }

    /// Makes the memory present in this process, so that no page is had by a fault later.
    ///
    /// # Errors
    /// `ENOMEM` where the system has no room for it.
    pub fn populate(&self) -> io::Result<()> {
        self.memory.populate()
    }

    /// Sends a copy of `message`; in pieces where it is longer than a chunk, and then it need not fit
    /// into the ring. Waits where there is no room.
    ///
    /// # Errors
    /// [`Error::PeerGone`], [`Error::WouldBlock`] where the ring does not wait, and then
    /// [`Error::TooLarge`] where it never has room for it.
    #[inline]
    pub fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        self.give_up();
        let chunk_bytes = self.memory.geometry.chunk_bytes;
        let mut rest = message;
        while rest.len() > chunk_bytes {
            let (chunk, after) = rest.split_at(chunk_bytes);
            self.push(chunk, Continuation::More)?;
            rest = after;
        }
        self.push(rest, Continuation::Last)
    }

    #[inline]
    fn push(&mut self, payload: &[u8], continuation: Continuation) -> Result<(), Error> {
        let record = record_bytes(self.head, payload.len());
        // Room for the word after the record too: it is cleared before the record is shown.
        self.make_room(record + WORD)?;
        // SAFETY: `make_room` saw that the consumer is done with `record + WORD` bytes from `head`
        // on, of which the payload is a part; they lie contiguous in the double mapping, and nobody
        // else writes there.
        unsafe {
            let target = payload_target(&self.memory, self.head, payload.len());
            target.copy_from_nonoverlapping(payload.as_ptr(), payload.len());
        }
        self.show(Word::of(payload.len(), continuation, Lies::Behind), record);
        Ok(())
    }

    /// Finds a place for a message of `bytes`, which is sent when the loan is; in the pool where it is
    /// longer than what may lie in the ring. Waits where none is free.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for what fits nowhere, [`Error::PeerGone`], [`Error::WouldBlock`] where the
    /// ring does not wait.
    pub fn loan(&mut self, bytes: usize) -> Result<Loan<'_>, Error> {
        self.reserve(bytes)?;
        Ok(Loan { producer: self })
    }

    /// As [`Producer::loan`], for callers that cannot hold a borrow: the place is what
    /// [`Producer::reserved`] returns until [`Producer::commit`] sends it. What was reserved before and
    /// not sent is given up.
    ///
    /// # Errors
    /// As for [`Producer::loan`].
    #[inline]
    pub fn reserve(&mut self, bytes: usize) -> Result<(), Error> {
        self.give_up();
        let geometry = self.memory.geometry;
        let place = if bytes <= geometry.longest_in_ring_bytes {
            self.make_room(record_bytes(self.head, bytes) + WORD)?;
            Place::Ring
        } else if bytes <= geometry.slot_bytes && geometry.slots > 0 {
            self.make_room(record_bytes(self.head, WORD) + WORD)?;
            Place::Slot(self.free_slot()?)
        } else {
            return Err(Error::TooLarge);
        };
        self.loaned = Some(Loaned { bytes, place });
        Ok(())
    }

    /// The place that was reserved; empty where none was.
    #[inline]
    pub fn reserved(&mut self) -> &mut [u8] {
        let Some(Loaned { bytes, place }) = self.loaned else { return &mut [] };
        let start = match place {
            Place::Ring => payload_target(&self.memory, self.head, bytes),
            Place::Slot(number) => self.memory.slot_target(number),
        };
        // SAFETY: `reserve` saw room for `bytes` there, which the consumer is not shown before `commit`;
        // shared memory is initialised by the kernel.
        unsafe { std::slice::from_raw_parts_mut(start, bytes) }
    }

    /// Sends what lies in the place that was reserved; nothing where none was.
    #[inline]
    pub fn commit(&mut self) {
        let Some(Loaned { bytes, place }) = self.loaned.take() else { return };
        match place {
            Place::Ring => {
                let word = Word::of(bytes, Continuation::Last, Lies::Behind);
                self.show(word, record_bytes(self.head, bytes));
            }
            Place::Slot(number) => self.refer_to(number, bytes),
        }
    }

    fn refer_to(&mut self, number: u32, bytes: usize) {
        let number = u64::from(number).to_ne_bytes();
        // SAFETY: `reserve` made room for a word after that of the record; nobody else writes there.
        unsafe {
            let target = payload_target(&self.memory, self.head, number.len());
            target.copy_from_nonoverlapping(number.as_ptr(), number.len());
        }
        self.show(Word::of(bytes, Continuation::Last, Lies::InPool), record_bytes(self.head, WORD));
    }

    #[inline]
    fn give_up(&mut self) {
        if let Some(Loaned { place: Place::Slot(number), .. }) = self.loaned.take() {
            self.slots.stack.push(number);
        }
    }

    /// The slot freed last, of those the consumer gave back.
    fn free_slot(&mut self) -> Result<u32, Error> {
        self.collect();
        if self.slots.stack.is_empty() {
            self.flush();
            let header = self.memory.header();
            let note = &header.freed.0[self.slots.next];
            self.waiter.until(
                || note.load(Ordering::Acquire) != 0,
                Notices { sleeps: &header.producer_sleeps.0, closed: &header.closed.0 },
            )?;
            self.collect();
        }
        self.slots.stack.pop().ok_or(Error::Corrupt)
    }

    /// Takes the notes of freed slots. There are never more than slots, and so no note is written to
    /// twice before it was taken.
    fn collect(&mut self) {
        loop {
            let note = &self.memory.header().freed.0[self.slots.next];
            let number = note.load(Ordering::Acquire);
            if number == 0 {
                return;
            }
            note.store(0, Ordering::Relaxed);
            self.slots.next = (self.slots.next + 1) % MOST_SLOTS;
            // Checked, since it lies in memory that is shared: none may be lent twice.
            let number = number - 1;
            if number < self.memory.geometry.slots && !self.slots.stack.contains(&number) {
                self.slots.stack.push(number);
            }
        }
    }

    /// Completes the record at `head`, and shows it to the consumer unless it is held back.
    #[inline]
    fn show(&mut self, word: u64, record: usize) {
        let next = self.head + record as u64;
        self.memory.word(next).store(0, Ordering::Relaxed);
        if self.memory.geometry.batch_bytes == 0 {
            self.release(self.head, word);
        } else {
            self.hold_back(word, next);
        }
        self.head = next;
    }

    #[inline]
    fn release(&mut self, position: u64, word: u64) {
        self.memory.word(position).store(word, Ordering::Release);
        self.waiter.wake(&self.memory.header().consumer_sleeps.0);
    }

    /// All records but the first are complete as the consumer will find them: it comes to them only
    /// past the first.
    #[inline]
    fn hold_back(&mut self, word: u64, next: u64) {
        let (first, first_word) = match self.held_back {
            Some(first) => {
                self.memory.word(self.head).store(word, Ordering::Relaxed);
                first
            }
            None => (self.head, word),
        };
        if next - first >= self.memory.geometry.batch_bytes as u64 {
            self.held_back = None;
            self.release(first, first_word);
        } else {
            self.held_back = Some((first, first_word));
        }
    }

    /// Shows the consumer what was held back.
    #[inline]
    pub fn flush(&mut self) {
        if let Some((first, word)) = self.held_back.take() {
            self.release(first, word);
        }
    }

    #[inline]
    fn make_room(&mut self, bytes: usize) -> Result<(), Error> {
        if self.head - self.seen_tail + bytes as u64 <= self.memory.geometry.capacity_bytes as u64 {
            return Ok(());
        }
        self.wait_for_room(bytes)
    }

    #[cold]
    fn wait_for_room(&mut self, bytes: usize) -> Result<(), Error> {
        let capacity = self.memory.geometry.capacity_bytes as u64;
        if bytes as u64 > capacity {
            return Err(Error::TooLarge);
        }
        // Nobody makes room for what they do not know of.
        self.flush();
        let (header, head) = (self.memory.header(), self.head);
        let room = || head - header.tail.0.load(Ordering::Acquire) + bytes as u64 <= capacity;
        let notices = Notices { sleeps: &header.producer_sleeps.0, closed: &header.closed.0 };
        self.waiter.until(room, notices)?;
        self.seen_tail = header.tail.0.load(Ordering::Acquire);
        Ok(())
    }

    /// System calls made since this was last asked.
    pub fn take_calls(&mut self) -> u64 {
        self.waiter.take_calls()
    }

    /// Lets go without telling the consumer: for the copy that a fork left in the wrong process. The
    /// consumer learns of a producer's death only once no process has a copy.
    pub fn disown(mut self) {
        self.armed = false;
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        if self.armed {
            self.flush();
            self.memory.header().close();
        }
    }
}

/// A place for a message, in memory that the consumer will read it from. Given up where it is not sent.
#[derive(Debug)]
pub struct Loan<'a> {
    producer: &'a mut Producer,
}

impl Loan<'_> {
    /// Sends what it holds.
    pub fn send(self) {
        self.producer.commit();
    }
}

impl Deref for Loan<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let Some(Loaned { bytes, place }) = self.producer.loaned else { return &[] };
        let (memory, head) = (&self.producer.memory, self.producer.head);
        let start = match place {
            Place::Ring => payload_target(memory, head, bytes),
            Place::Slot(number) => memory.slot_target(number),
        };
        // SAFETY: as in `Producer::reserved`.
        unsafe { std::slice::from_raw_parts(start, bytes) }
    }
}

impl DerefMut for Loan<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.producer.reserved()
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        self.producer.give_up();
    }
}
