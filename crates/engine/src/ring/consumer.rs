//! The side that reads records.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::io::Errno;

use super::wait::Waiter;
use super::{Continuation, MORE, Memory, PRESENT, WORD, Waiting, record_bytes};

/// The only reader of a ring.
#[derive(Debug)]
pub struct Consumer {
    memory: Arc<Memory>,
    /// Where the next record is, bytes since the beginning.
    position: u64,
    /// The position last published as the tail.
    published: u64,
    waiter: Waiter,
    armed: bool,
}

/// One record, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Bytes of payload it held.
    pub bytes: usize,
    /// Whether its message goes on.
    pub continuation: Continuation,
}

impl Consumer {
    pub(super) fn new(memory: Arc<Memory>, waiting: Waiting) -> Self {
        Self { memory, position: 0, published: 0, waiter: Waiter::new(waiting), armed: true }
    }

    /// Makes the memory present in this process.
    ///
    /// # Errors
    /// `ENOMEM` where the system has no room for it.
    pub fn populate(&self) -> Result<(), Errno> {
        self.memory.populate()
    }

    /// Copies the next record into `into`.
    ///
    /// # Errors
    /// `EMSGSIZE` where `into` is too short (the record stays), `EPIPE` where the producer is gone
    /// and all was read, `EAGAIN` where nothing is there and the ring does not wait.
    #[inline]
    pub fn pop(&mut self, into: &mut [u8]) -> Result<Piece, Errno> {
        let mut word = self.memory.word(self.position).load(Ordering::Acquire);
        if word == 0 {
            word = self.wait_for_record()?;
        }
        // Checked against both the buffer and the ring: the word lies in memory that is shared.
        let bytes = usize::try_from(word & !(PRESENT | MORE)).map_err(|_| Errno::BADMSG)?;
        if bytes > into.len() {
            return Err(Errno::MSGSIZE);
        }
        if bytes > self.memory.capacity_bytes() - WORD {
            return Err(Errno::BADMSG);
        }
        // SAFETY: the Acquire load above saw the producer's Release of this record, so its payload
        // is complete and stays until the tail passes it; it lies contiguous in the double
        // mapping and fits both ring and buffer.
        unsafe {
            let source = self.memory.address(self.position).add(WORD);
            into.as_mut_ptr().copy_from_nonoverlapping(source, bytes);
        }
        self.advance(record_bytes(bytes));
        let more = word & MORE != 0;
        let continuation = if more { Continuation::More } else { Continuation::Last };
        Ok(Piece { bytes, continuation })
    }

    #[inline]
    fn advance(&mut self, record: usize) {
        self.position += record as u64;
        let quarter = self.memory.capacity_bytes() as u64 / 4;
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
    fn wait_for_record(&mut self) -> Result<u64, Errno> {
        if self.published != self.position {
            self.publish();
        }
        let (header, word) = (self.memory.header(), self.memory.word(self.position));
        let ready = || word.load(Ordering::Acquire) != 0;
        self.waiter.until(ready, &header.consumer_sleeps.0, &header.closed.0)?;
        Ok(word.load(Ordering::Acquire))
    }

    /// System calls made since this was last asked.
    pub fn take_calls(&mut self) -> u64 {
        self.waiter.take_calls()
    }

    /// Lets go without telling the producer: for the copy a fork left in the wrong process.
    pub fn disown(mut self) {
        self.armed = false;
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        if self.armed {
            self.memory.close();
        }
    }
}
