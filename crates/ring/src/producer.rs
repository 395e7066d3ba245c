//! Sending side of a ring.

use std::io;
use std::ops::{Deref, DerefMut};

use crate::Error;
use crate::header::{Header, MAX_SLOTS};
use crate::liveness::Lifeline;
use crate::memory::Memory;
use crate::record::{Continuation, PayloadLocation, WORD_BYTES, Word, lead_bytes, record_bytes};
use crate::sync::{Arc, Ordering};
use crate::wait::{SharedFlags, WaitStrategy, Waiter};

/// The only sender of a ring.
#[derive(Debug)]
pub struct Producer {
    memory: Arc<Memory>,
    /// Position of the next record, bytes since the ring's creation.
    head: u64,
    /// The consumer's tail as last read and checked: never beyond `head`, and never more than the capacity behind it.
    cached_tail: u64,
    /// First record not yet published to the consumer: its position, and its word.
    held_back: Option<(u64, u64)>,
    slots: FreeSlots,
    reservation: Option<Reservation>,
    waiter: Waiter,
    closes_on_drop: bool,
}

/// Free slots of the pool. The one freed last is on top, since caches still hold it.
#[derive(Debug)]
struct FreeSlots {
    stack: Vec<u32>,
    /// Number of slots in the pool, free or lent.
    count: u32,
    /// Index of the header's next note of a freed slot, modulo their number.
    next: usize,
}

impl FreeSlots {
    fn new(count: u32) -> Self {
        Self { stack: (0..count).rev().collect(), count, next: 0 }
    }

    /// Returns the slot that the next note names; `None` if the consumer has not written it yet. The note is loaded
    /// once.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] for a slot that does not exist or is not lent. So no slot is lent twice, and no more
    /// notes are accepted than there are slots.
    fn next_freed(&self, header: &Header) -> Result<Option<u32>, Error> {
        let note = header.freed.0[self.next].load(Ordering::Acquire);
        let Some(number) = note.checked_sub(1) else { return Ok(None) };
        if number >= self.count || self.stack.contains(&number) {
            return Err(Error::Corrupt);
        }
        Ok(Some(number))
    }

    /// Takes back slot `number`, which the next note named.
    fn reclaim(&mut self, header: &Header, number: u32) {
        header.freed.0[self.next].store(0, Ordering::Relaxed);
        self.next = (self.next + 1) % MAX_SLOTS;
        self.stack.push(number);
    }
}

/// Reserved space for a message.
#[derive(Clone, Copy, Debug)]
struct Reservation {
    bytes: usize,
    location: LoanLocation,
}

#[derive(Clone, Copy, Debug)]
enum LoanLocation {
    Ring,
    Slot(u32),
}

/// Address for the payload of `bytes` of a record at `position`.
#[inline]
fn payload_target(memory: &Memory, position: u64, bytes: usize) -> *mut u8 {
    memory.target(position + lead_bytes(position, bytes) as u64, bytes)
}

/// Checks a tail that was loaded once: it must lie between the last one, which is no more than the capacity behind the
/// head, and the head.
///
/// # Errors
/// Returns [`Error::Corrupt`] for a tail that no consumer can have reached.
#[inline]
fn checked_tail(tail: u64, cached_tail: u64, head: u64) -> Result<u64, Error> {
    let is_at_word = tail.is_multiple_of(WORD_BYTES as u64);
    if (cached_tail..=head).contains(&tail) && is_at_word { Ok(tail) } else { Err(Error::Corrupt) }
}

impl Producer {
    pub(crate) fn new(memory: Arc<Memory>, waiting: WaitStrategy, life: Lifeline) -> Self {
        let slots = FreeSlots::new(memory.geometry.slots);
        Self {
            memory,
            head: 0,
            cached_tail: 0,
            held_back: None,
            slots,
            reservation: None,
            waiter: Waiter::new(waiting, life),
            closes_on_drop: true,
        }
    }

    /// Makes the memory present in this process, so that no later access faults.
    ///
    /// # Errors
    /// Returns `ENOMEM` if the system cannot provide the memory.
    pub fn populate(&self) -> io::Result<()> {
        self.memory.populate()
    }

    /// Sends a copy of `message`; waits if there is no room. A message longer than a chunk is sent in pieces, and then
    /// need not fit into the ring.
    ///
    /// # Errors
    /// Returns [`Error::PeerGone`]. If the ring does not wait, returns [`Error::WouldBlock`], or [`Error::TooLarge`]
    /// for a message that can never fit.
    #[inline]
    pub fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        self.cancel_reservation();
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
        // Includes room for the word after the record, which is cleared before the record is published.
        self.make_room(record + WORD_BYTES)?;
        // SAFETY: `make_room` established, from a checked tail, that the consumer is done with `record + WORD_BYTES`
        // bytes from `head` on, no more than the capacity, which include the payload; they are contiguous in the double
        // mapping. No other code of the protocol writes there; a consumer that does anyway changes only what it will
        // receive.
        unsafe {
            let target = payload_target(&self.memory, self.head, payload.len());
            target.copy_from_nonoverlapping(payload.as_ptr(), payload.len());
        }
        self.finish_record(
            Word::encode(payload.len(), continuation, PayloadLocation::Inline),
            record,
        );
        Ok(())
    }

    /// Reserves space for a message of `bytes`, which is sent when the loan is: in the pool if it is longer than what
    /// may lie in the ring. Waits if none is free.
    ///
    /// # Errors
    /// Returns [`Error::TooLarge`] for a message that never fits, [`Error::PeerGone`], or [`Error::WouldBlock`] if the
    /// ring does not wait.
    pub fn loan(&mut self, bytes: usize) -> Result<Loan<'_>, Error> {
        self.reserve(bytes)?;
        Ok(Loan { producer: self })
    }

    /// Like [`Producer::loan`], for callers that cannot hold a borrow: [`Producer::reserved`] returns the space until
    /// [`Producer::commit`] sends it. Discards a previous reservation that was not sent.
    ///
    /// # Errors
    /// As for [`Producer::loan`].
    #[inline]
    pub fn reserve(&mut self, bytes: usize) -> Result<(), Error> {
        self.cancel_reservation();
        let geometry = self.memory.geometry;
        let place = if bytes <= geometry.longest_in_ring_bytes {
            self.make_room(record_bytes(self.head, bytes) + WORD_BYTES)?;
            LoanLocation::Ring
        } else if bytes <= geometry.slot_bytes && geometry.slots > 0 {
            self.make_room(record_bytes(self.head, WORD_BYTES) + WORD_BYTES)?;
            LoanLocation::Slot(self.free_slot()?)
        } else {
            return Err(Error::TooLarge);
        };
        self.reservation = Some(Reservation { bytes, location: place });
        Ok(())
    }

    /// The reserved space; empty if there is none. It lies in memory that the consumer can write to: a consumer that
    /// violates the protocol can change its contents (see the crate's documentation).
    #[inline]
    pub fn reserved(&mut self) -> &mut [u8] {
        let Some(Reservation { bytes, location: place }) = self.reservation else { return &mut [] };
        let start = match place {
            LoanLocation::Ring => payload_target(&self.memory, self.head, bytes),
            LoanLocation::Slot(number) => self.memory.slot_target(number),
        };
        // SAFETY: `reserve` saw room for `bytes` there, inside the mapping, which lives as long as `self`; the kernel
        // initialized it. The record is not published to the consumer before `commit`. A consumer that writes there
        // anyway changes the bytes under their writer, which Rust does not allow for. No index, length or address in
        // this crate depends on them.
        unsafe { std::slice::from_raw_parts_mut(start, bytes) }
    }

    /// Sends the message in the reserved space, if any.
    #[inline]
    pub fn commit(&mut self) {
        let Some(Reservation { bytes, location: place }) = self.reservation.take() else { return };
        match place {
            LoanLocation::Ring => {
                let word = Word::encode(bytes, Continuation::Last, PayloadLocation::Inline);
                self.finish_record(word, record_bytes(self.head, bytes));
            }
            LoanLocation::Slot(number) => self.commit_slot(number, bytes),
        }
    }

    fn commit_slot(&mut self, number: u32, bytes: usize) {
        // `reserve` made room for it.
        let at = self.head + lead_bytes(self.head, WORD_BYTES) as u64;
        self.memory.word(at).store(number.into(), Ordering::Relaxed);
        self.finish_record(
            Word::encode(bytes, Continuation::Last, PayloadLocation::Pool),
            record_bytes(self.head, WORD_BYTES),
        );
    }

    #[inline]
    fn cancel_reservation(&mut self) {
        if let Some(Reservation { location: LoanLocation::Slot(number), .. }) =
            self.reservation.take()
        {
            self.slots.stack.push(number);
        }
    }

    /// Returns the slot freed last among those that the consumer gave back; waits if none is free.
    fn free_slot(&mut self) -> Result<u32, Error> {
        self.collect_freed()?;
        if self.slots.stack.is_empty() {
            self.flush();
            let (header, slots) = (self.memory.header(), &self.slots);
            let notices =
                SharedFlags { sleeps: &header.producer_sleeps.0, closed: &header.closed.0 };
            let number =
                self.waiter.wait_until(|| slots.next_freed(header).transpose(), notices)??;
            self.slots.reclaim(header, number);
            self.collect_freed()?;
        }
        self.slots.stack.pop().ok_or(Error::Corrupt)
    }

    /// Collects the notes of freed slots. There are never more notes than slots, so no note is overwritten before it is
    /// collected.
    fn collect_freed(&mut self) -> Result<(), Error> {
        let header = self.memory.header();
        while let Some(number) = self.slots.next_freed(header)? {
            self.slots.reclaim(header, number);
        }
        Ok(())
    }

    /// Completes the record at `head`, and publishes it to the consumer unless it is held back.
    #[inline]
    fn finish_record(&mut self, word: u64, record: usize) {
        let next = self.head + record as u64;
        self.memory.word(next).store(0, Ordering::Relaxed);
        if self.memory.geometry.batch_bytes == 0 {
            self.publish(self.head, word);
        } else {
            self.add_to_batch(word, next);
        }
        self.head = next;
    }

    #[inline]
    fn publish(&mut self, position: u64, word: u64) {
        self.memory.word(position).store(word, Ordering::Release);
        self.waiter.wake(&self.memory.header().consumer_sleeps.0);
    }

    /// Holds a record back. All records of a batch but the first are already complete in the ring: the consumer reaches
    /// them only past the first.
    #[inline]
    fn add_to_batch(&mut self, word: u64, next: u64) {
        let (first, first_word) = match self.held_back {
            Some(first) => {
                self.memory.word(self.head).store(word, Ordering::Relaxed);
                first
            }
            None => (self.head, word),
        };
        if next - first >= self.memory.geometry.batch_bytes as u64 {
            self.held_back = None;
            self.publish(first, first_word);
        } else {
            self.held_back = Some((first, first_word));
        }
    }

    /// Publishes the records that were held back.
    #[inline]
    pub fn flush(&mut self) {
        if let Some((first, word)) = self.held_back.take() {
            self.publish(first, word);
        }
    }

    #[inline]
    fn make_room(&mut self, bytes: usize) -> Result<(), Error> {
        if self.head - self.cached_tail + bytes as u64 <= self.memory.geometry.capacity_bytes as u64
        {
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
        // The consumer can free space only for records that were published.
        self.flush();
        let (header, head, seen_tail) = (self.memory.header(), self.head, self.cached_tail);
        let room = || {
            let tail = checked_tail(header.tail.0.load(Ordering::Acquire), seen_tail, head);
            let enough = |tail: &u64| head - tail + bytes as u64 <= capacity;
            tail.map(|tail| Some(tail).filter(enough)).transpose()
        };
        let notices = SharedFlags { sleeps: &header.producer_sleeps.0, closed: &header.closed.0 };
        self.cached_tail = self.waiter.wait_until(room, notices)??;
        Ok(())
    }

    /// Position of the next record, bytes since the ring's creation.
    #[cfg(test)]
    pub(crate) fn position(&self) -> u64 {
        self.head
    }

    /// Number of system calls since the last query.
    pub fn take_calls(&mut self) -> u64 {
        self.waiter.take_calls()
    }

    /// Drops this side without notifying the consumer: for the copy that a fork left in the wrong process. The consumer
    /// detects a producer's death only once no process has a copy.
    pub fn close_after_fork(mut self) {
        self.closes_on_drop = false;
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        if self.closes_on_drop {
            self.flush();
            self.memory.header().close();
        }
    }
}

/// Space for a message in memory from which the consumer will read it. Discarded if it is not sent.
#[derive(Debug)]
pub struct Loan<'a> {
    producer: &'a mut Producer,
}

impl Loan<'_> {
    /// Sends the message.
    pub fn send(self) {
        self.producer.commit();
    }
}

impl Deref for Loan<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let Some(Reservation { bytes, location: place }) = self.producer.reservation else {
            return &[];
        };
        let (memory, head) = (&self.producer.memory, self.producer.head);
        let start = match place {
            LoanLocation::Ring => payload_target(memory, head, bytes),
            LoanLocation::Slot(number) => memory.slot_target(number),
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
        self.producer.cancel_reservation();
    }
}
