//! The side that receives.

use std::io;
use std::ops::Deref;

use crate::Error;
use crate::header::MOST_SLOTS;
use crate::life::Lifeline;
use crate::memory::Memory;
use crate::record::{Continuation, Lies, WORD, Word, lead_bytes, longest_bytes, record_bytes};
use crate::sync::{Arc, Ordering};
use crate::wait::{Notices, Waiter, Waiting};

/// The only receiver of a ring.
#[derive(Debug)]
pub struct Consumer {
    memory: Arc<Memory>,
    /// Where the next record is, bytes since the beginning.
    position: u64,
    /// The position last published as the tail.
    published: u64,
    taken: Option<Taken>,
    /// Which of the header's notes of freed slots is next, modulo their number.
    next_freed: usize,
    waiter: Waiter,
    armed: bool,
}

/// A message that is left where it lies.
#[derive(Clone, Copy, Debug)]
struct Taken {
    bytes: usize,
    place: Place,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    /// In the record at the consumer's position.
    Ring,
    /// In a slot; the record that said so has been passed.
    Slot(u32),
}

/// Where the payload of `bytes` of the record at `position` lies.
#[inline]
fn payload_source(memory: &Memory, position: u64, bytes: usize) -> *const u8 {
    memory.source(position + lead_bytes(position, bytes) as u64, bytes)
}

impl Consumer {
    pub(crate) fn new(memory: Arc<Memory>, waiting: Waiting, life: Lifeline) -> Self {
        Self {
            memory,
            position: 0,
            published: 0,
            taken: None,
            next_freed: 0,
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

    /// Copies the next message to the front of `into` and returns its length. Waits for it.
    ///
    /// # Errors
    /// [`Error::PeerGone`] where the producer is gone and all was received, [`Error::WouldBlock`] where
    /// nothing is there and the ring does not wait. [`Error::TooLarge`] where `into` is too short: a
    /// message of one piece is then still there, of one of several what fitted is lost.
    #[inline]
    pub fn recv(&mut self, into: &mut [u8]) -> Result<usize, Error> {
        let mut filled = 0;
        loop {
            let (bytes, continuation) = self.pop(&mut into[filled..])?;
            filled += bytes;
            if continuation == Continuation::Last {
                return Ok(filled);
            }
        }
    }

    #[inline]
    fn pop(&mut self, into: &mut [u8]) -> Result<(usize, Continuation), Error> {
        self.release();
        let word = self.next_word()?;
        if word.lies == Lies::InPool {
            return self.pop_slot(word, into);
        }
        let bytes = self.checked(word)?;
        if bytes > into.len() {
            return Err(Error::TooLarge);
        }
        // SAFETY: the Acquire load of the word saw the producer's Release of this record, so its payload
        // is complete and stays until the tail passes it; it lies contiguous in the double
        // mapping and fits both ring and buffer.
        unsafe {
            let source = payload_source(&self.memory, self.position, bytes);
            into.as_mut_ptr().copy_from_nonoverlapping(source, bytes);
        }
        self.advance(record_bytes(self.position, bytes));
        Ok((bytes, word.continuation))
    }

    #[cold]
    fn pop_slot(&mut self, word: Word, into: &mut [u8]) -> Result<(usize, Continuation), Error> {
        if word.bytes > into.len() as u64 {
            return Err(Error::TooLarge);
        }
        let bytes = self.take()?;
        into[..bytes].copy_from_slice(self.taken());
        self.release();
        Ok((bytes, Continuation::Last))
    }

    /// The next message, where it lies, which is read in place and given back when dropped. Waits for it.
    ///
    /// # Errors
    /// As for [`Consumer::recv`]; [`Error::InPieces`] for a message that was sent as a copy longer than
    /// a chunk, which is then still there.
    pub fn receive(&mut self) -> Result<Message<'_>, Error> {
        self.take()?;
        Ok(Message { consumer: self })
    }

    /// As [`Consumer::receive`], for callers that cannot hold a borrow: the message, whose length this
    /// returns, is what [`Consumer::taken`] returns until [`Consumer::release`] gives it back. One that
    /// was not given back is now.
    ///
    /// # Errors
    /// As for [`Consumer::receive`].
    #[inline]
    pub fn take(&mut self) -> Result<usize, Error> {
        self.release();
        let word = self.next_word()?;
        if word.continuation == Continuation::More {
            return Err(Error::InPieces);
        }
        let taken = match word.lies {
            Lies::Behind => Taken { bytes: self.checked(word)?, place: Place::Ring },
            Lies::InPool => self.referred(word)?,
        };
        self.taken = Some(taken);
        Ok(taken.bytes)
    }

    /// The message that was taken; empty where none was.
    #[inline]
    #[must_use]
    pub fn taken(&self) -> &[u8] {
        let Some(Taken { bytes, place }) = self.taken else { return &[] };
        let start = match place {
            Place::Ring => payload_source(&self.memory, self.position, bytes),
            Place::Slot(number) => self.memory.slot_source(number),
        };
        // SAFETY: `take` saw the record complete and checked that it, or the slot, holds `bytes`; the
        // producer writes there again only after `release`, which needs `&mut self`.
        unsafe { std::slice::from_raw_parts(start, bytes) }
    }

    /// Gives back what was taken.
    #[inline]
    pub fn release(&mut self) {
        match self.taken.take() {
            None => {}
            Some(Taken { bytes, place: Place::Ring }) => {
                self.advance(record_bytes(self.position, bytes));
            }
            Some(Taken { place: Place::Slot(number), .. }) => self.give_back(number),
        }
    }

    fn give_back(&mut self, number: u32) {
        let header = self.memory.header();
        header.freed.0[self.next_freed].store(number + 1, Ordering::Release);
        self.next_freed = (self.next_freed + 1) % MOST_SLOTS;
        self.waiter.wake(&header.producer_sleeps.0);
    }

    /// What the record at the position refers to, which is thereby passed.
    fn referred(&mut self, word: Word) -> Result<Taken, Error> {
        let mut number = [0; WORD];
        // SAFETY: as in `pop`, with one word of payload.
        unsafe {
            let source = payload_source(&self.memory, self.position, WORD);
            number.as_mut_ptr().copy_from_nonoverlapping(source, WORD);
        }
        let geometry = self.memory.geometry;
        let number = u32::try_from(u64::from_ne_bytes(number)).map_err(|_| Error::Corrupt)?;
        let bytes = usize::try_from(word.bytes).map_err(|_| Error::Corrupt)?;
        if number >= geometry.slots || bytes > geometry.slot_bytes {
            return Err(Error::Corrupt);
        }
        self.advance(record_bytes(self.position, WORD));
        Ok(Taken { bytes, place: Place::Slot(number) })
    }

    /// The length of a payload in the ring. Checked, since it lies in memory that is shared.
    #[inline]
    fn checked(&self, word: Word) -> Result<usize, Error> {
        let most = longest_bytes(self.memory.geometry.capacity_bytes);
        match usize::try_from(word.bytes) {
            Ok(bytes) if bytes <= most => Ok(bytes),
            _ => Err(Error::Corrupt),
        }
    }

    #[inline]
    fn next_word(&mut self) -> Result<Word, Error> {
        let word = self.memory.word(self.position).load(Ordering::Acquire);
        Ok(Word::read(if word == 0 { self.wait_for_record()? } else { word }))
    }

    #[inline]
    fn advance(&mut self, record: usize) {
        self.position += record as u64;
        let quarter = self.memory.geometry.capacity_bytes as u64 / 4;
        if self.position - self.published >= quarter {
            self.publish();
        }
    }

    fn publish(&mut self) {
        self.published = self.position;
        let header = self.memory.header();
        header.tail.0.store(self.position, Ordering::Release);
        self.waiter.wake(&header.producer_sleeps.0);
    }

    #[cold]
    fn wait_for_record(&mut self) -> Result<u64, Error> {
        if self.published != self.position {
            self.publish();
        }
        let (header, word) = (self.memory.header(), self.memory.word(self.position));
        let ready = || word.load(Ordering::Acquire) != 0;
        let notices = Notices { sleeps: &header.consumer_sleeps.0, closed: &header.closed.0 };
        self.waiter.until(ready, notices)?;
        Ok(word.load(Ordering::Acquire))
    }

    /// System calls made since this was last asked.
    pub fn take_calls(&mut self) -> u64 {
        self.waiter.take_calls()
    }

    /// Lets go without telling the producer: for the copy that a fork left in the wrong process. The
    /// producer learns of a consumer's death only once no process has a copy.
    pub fn disown(mut self) {
        self.armed = false;
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        if self.armed {
            self.memory.header().close();
        }
    }
}

/// A message where it lies. Given back when dropped.
#[derive(Debug)]
pub struct Message<'a> {
    consumer: &'a mut Consumer,
}

impl Deref for Message<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.consumer.taken()
    }
}

impl Drop for Message<'_> {
    fn drop(&mut self) {
        self.consumer.release();
    }
}
