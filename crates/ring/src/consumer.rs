//! Receiving side of a ring.

use std::io;
use std::ops::Deref;

use crate::Error;
use crate::header::MAX_SLOTS;
use crate::liveness::Lifeline;
use crate::memory::Memory;
use crate::record::{
    Continuation, PayloadLocation, WORD_BYTES, Word, lead_bytes, max_payload_bytes, record_bytes,
};
use crate::sync::{Arc, Ordering};
use crate::wait::{SharedFlags, WaitStrategy, Waiter};

/// The only receiver of a ring.
#[derive(Debug)]
pub struct Consumer {
    memory: Arc<Memory>,
    /// Position of the next record, bytes since the ring's creation.
    position: u64,
    /// Position last published as the tail.
    published: u64,
    taken: Option<TakenMessage>,
    /// Index of the header's next note of a freed slot, modulo their number.
    next_freed: usize,
    waiter: Waiter,
    closes_on_drop: bool,
}

/// A message that is left in place.
#[derive(Clone, Copy, Debug)]
struct TakenMessage {
    bytes: usize,
    location: MessageLocation,
}

#[derive(Clone, Copy, Debug)]
enum MessageLocation {
    /// In the record at the consumer's position.
    Ring,
    /// In a slot; the record that refers to the slot has been passed.
    Slot(u32),
}

/// Address of the payload of `bytes` of the record at `position`.
#[inline]
fn payload_source(memory: &Memory, position: u64, bytes: usize) -> *const u8 {
    memory.source(position + lead_bytes(position, bytes) as u64, bytes)
}

impl Consumer {
    pub(crate) fn new(memory: Arc<Memory>, waiting: WaitStrategy, life: Lifeline) -> Self {
        Self {
            memory,
            position: 0,
            published: 0,
            taken: None,
            next_freed: 0,
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

    /// Waits for the next message, copies it to the front of `into`, and returns its length.
    ///
    /// # Errors
    /// Returns [`Error::PeerGone`] if the producer is gone and everything was received, and [`Error::WouldBlock`] if
    /// there is no message and the ring does not wait. Returns [`Error::TooLarge`] if `into` is too short: a message of
    /// one piece then stays in the ring; of a message of several pieces, the pieces that fitted are lost.
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
        if word.location == PayloadLocation::Pool {
            return self.pop_slot(word, into);
        }
        let bytes = self.checked_length(word)?;
        if bytes > into.len() {
            return Err(Error::TooLarge);
        }
        // SAFETY: `bytes` was checked against ring and buffer, and the source is contiguous in the double mapping. The
        // Acquire load of the word synchronizes with the producer's Release of this record, so its payload is complete
        // and stays until the tail passes it. A producer that writes to it anyway changes the copied bytes, and nothing
        // here depends on them.
        unsafe {
            let source = payload_source(&self.memory, self.position, bytes);
            into.as_mut_ptr().copy_from_nonoverlapping(source, bytes);
        }
        self.advance(record_bytes(self.position, bytes));
        Ok((bytes, word.continuation))
    }

    /// Copies a message from the pool. Uses `word` as it was loaded: the producer may have changed the one in shared
    /// memory since.
    #[cold]
    fn pop_slot(&mut self, word: Word, into: &mut [u8]) -> Result<(usize, Continuation), Error> {
        let taken = self.referenced_slot(word)?;
        let Some(into) = into.get_mut(..taken.bytes) else { return Err(Error::TooLarge) };
        self.skip_reference(taken);
        into.copy_from_slice(self.taken());
        self.release();
        Ok((taken.bytes, Continuation::Last))
    }

    /// Waits for the next message and returns it in place. It is released when dropped.
    ///
    /// # Errors
    /// As for [`Consumer::recv`]; [`Error::Fragmented`] for a message that was sent as a copy longer than a chunk. That
    /// message stays in the ring.
    pub fn receive(&mut self) -> Result<Message<'_>, Error> {
        self.take()?;
        Ok(Message { consumer: self })
    }

    /// Like [`Consumer::receive`], for callers that cannot hold a borrow. Returns the length of the message;
    /// [`Consumer::taken`] returns the message until [`Consumer::release`] releases it. Releases a message that was
    /// taken before.
    ///
    /// # Errors
    /// As for [`Consumer::receive`].
    #[inline]
    pub fn take(&mut self) -> Result<usize, Error> {
        self.release();
        let word = self.next_word()?;
        if word.location == PayloadLocation::Pool {
            let taken = self.referenced_slot(word)?;
            self.skip_reference(taken);
            return Ok(taken.bytes);
        }
        let bytes = self.checked_length(word)?;
        if word.continuation == Continuation::More {
            return Err(Error::Fragmented);
        }
        self.taken = Some(TakenMessage { bytes, location: MessageLocation::Ring });
        Ok(bytes)
    }

    /// The message that was taken; empty if there is none. It lies in memory that the producer can write to: a producer
    /// that violates the protocol can change it while it is read (see the crate's documentation). Its length does not
    /// change.
    #[inline]
    #[must_use]
    pub fn taken(&self) -> &[u8] {
        let Some(TakenMessage { bytes, location: place }) = self.taken else { return &[] };
        let start = match place {
            MessageLocation::Ring => payload_source(&self.memory, self.position, bytes),
            MessageLocation::Slot(number) => self.memory.slot_source(number),
        };
        // SAFETY: `take` checked that ring or slot holds `bytes`, and nothing is loaded again, so the slice lies inside
        // the mapping, which lives as long as `self`; the kernel initialized it. `take` saw the record complete, and a
        // producer writes there again only after `release`, which needs `&mut self`. A producer that violates this
        // changes the bytes under their reader, which Rust does not allow for; no index, length or address in this
        // crate depends on them.
        unsafe { std::slice::from_raw_parts(start, bytes) }
    }

    /// Releases the message that was taken.
    #[inline]
    pub fn release(&mut self) {
        match self.taken.take() {
            None => {}
            Some(TakenMessage { bytes, location: MessageLocation::Ring }) => {
                self.advance(record_bytes(self.position, bytes));
            }
            Some(TakenMessage { location: MessageLocation::Slot(number), .. }) => {
                self.return_slot(number);
            }
        }
    }

    fn return_slot(&mut self, number: u32) {
        let header = self.memory.header();
        header.freed.0[self.next_freed].store(number + 1, Ordering::Release);
        self.next_freed = (self.next_freed + 1) % MAX_SLOTS;
        self.waiter.wake(&header.producer_sleeps.0);
    }

    /// Slot of the pool that the record at the current position refers to. Number and length are checked, since both
    /// lie in shared memory.
    fn referenced_slot(&self, word: Word) -> Result<TakenMessage, Error> {
        let at = self.position + lead_bytes(self.position, WORD_BYTES) as u64;
        let number = self.memory.word(at).load(Ordering::Relaxed);
        let geometry = self.memory.geometry;
        let number = u32::try_from(number).map_err(|_| Error::Corrupt)?;
        let bytes = usize::try_from(word.bytes).map_err(|_| Error::Corrupt)?;
        if number >= geometry.slots || bytes > geometry.slot_bytes {
            return Err(Error::Corrupt);
        }
        Ok(TakenMessage { bytes, location: MessageLocation::Slot(number) })
    }

    /// Passes the record at the current position, which refers to the message `taken`.
    fn skip_reference(&mut self, taken: TakenMessage) {
        self.advance(record_bytes(self.position, WORD_BYTES));
        self.taken = Some(taken);
    }

    /// Length of a payload in the ring. It is checked, since it lies in shared memory. A piece that is not the last has
    /// the length of a chunk: if an empty one were accepted, a ring full of them would be read forever.
    #[inline]
    fn checked_length(&self, word: Word) -> Result<usize, Error> {
        let geometry = &self.memory.geometry;
        let bytes = usize::try_from(word.bytes).map_err(|_| Error::Corrupt)?;
        let is_last_or_chunk =
            word.continuation == Continuation::Last || bytes == geometry.chunk_bytes;
        if bytes > max_payload_bytes(geometry.capacity_bytes) || !is_last_or_chunk {
            return Err(Error::Corrupt);
        }
        Ok(bytes)
    }

    /// Word at the current position. It is loaded only once for each message or piece.
    #[inline]
    fn next_word(&mut self) -> Result<Word, Error> {
        let word = self.memory.word(self.position).load(Ordering::Acquire);
        Word::decode(if word == 0 { self.wait_for_record()? } else { word })
    }

    #[inline]
    fn advance(&mut self, record: usize) {
        self.position += record as u64;
        let quarter = self.memory.geometry.capacity_bytes as u64 / 4;
        if self.position - self.published >= quarter {
            self.publish();
        }
    }

    #[inline]
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
        let record = || Some(word.load(Ordering::Acquire)).filter(|&word| word != 0);
        let notices = SharedFlags { sleeps: &header.consumer_sleeps.0, closed: &header.closed.0 };
        self.waiter.wait_until(record, notices)
    }

    /// Whether the next receive would not wait: a message, or its first piece, has arrived, or the producer is gone. Frees
    /// the space of what was received, which the producer may be waiting for.
    #[inline]
    pub fn is_ready(&mut self) -> bool {
        if self.memory.word(self.position).load(Ordering::Acquire) != 0 {
            return true;
        }
        if self.published != self.position {
            self.publish();
        }
        self.memory.header().closed.0.load(Ordering::Acquire) != 0
    }

    /// Position of the next record, bytes since the ring's creation.
    #[cfg(test)]
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Number of system calls since the last query.
    pub fn take_calls(&mut self) -> u64 {
        self.waiter.take_calls()
    }

    /// Drops this side without notifying the producer: for the copy that a fork left in the wrong process. The producer
    /// detects a consumer's death only once no process has a copy.
    pub fn close_after_fork(mut self) {
        self.closes_on_drop = false;
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        if self.closes_on_drop {
            self.memory.header().close();
        }
    }
}

/// A message in place, released when dropped.
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{Options, ring};

    #[test]
    fn a_message_in_the_pool_is_as_long_as_the_word_said_that_was_checked() {
        let options =
            Options { slots: 1, slot_bytes: 8192, longest_in_ring_bytes: 0, ..Options::default() };
        let (mut producer, mut consumer) = ring(&options).unwrap();
        producer.loan(8000).unwrap().send();
        // As if the producer had changed the message's length after the word was read.
        let word =
            Word { bytes: 8, continuation: Continuation::Last, location: PayloadLocation::Pool };
        assert_eq!(consumer.pop_slot(word, &mut [0; 8]), Ok((8, Continuation::Last)));
    }
}
