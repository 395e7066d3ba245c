//! The side that writes records.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::io::Errno;

use super::wait::Waiter;
use super::{Continuation, MORE, Memory, PRESENT, WORD, Waiting, record_bytes};

/// The only writer of a ring.
#[derive(Debug)]
pub struct Producer {
    memory: Arc<Memory>,
    /// Where the next record goes, bytes since the beginning.
    head: u64,
    /// The consumer's tail as last read.
    seen_tail: u64,
    waiter: Waiter,
    armed: bool,
}

impl Producer {
    pub(super) fn new(memory: Arc<Memory>, waiting: Waiting) -> Self {
        Self { memory, head: 0, seen_tail: 0, waiter: Waiter::new(waiting), armed: true }
    }

    /// Makes the memory present in this process.
    ///
    /// # Errors
    /// `ENOMEM` where the system has no room for it.
    pub fn populate(&self) -> Result<(), Errno> {
        self.memory.populate()
    }

    /// Writes one record and shows it to the consumer.
    ///
    /// # Errors
    /// `EMSGSIZE` where no ring of this capacity holds it, `EPIPE` where the consumer is gone,
    /// `EAGAIN` where there is no room and the ring does not wait.
    #[inline]
    pub fn push(&mut self, payload: &[u8], continuation: Continuation) -> Result<(), Errno> {
        let record = record_bytes(payload.len());
        // Room for the word after the record too: it is cleared before the record is shown.
        self.make_room(record + WORD)?;
        // SAFETY: `make_room` saw that the consumer is done with `record + WORD` bytes from `head`
        // on, which lie contiguous in the double mapping; nobody else writes there.
        unsafe {
            let target = self.memory.address(self.head).add(WORD);
            target.copy_from_nonoverlapping(payload.as_ptr(), payload.len());
        }
        self.show(payload.len(), record, continuation);
        Ok(())
    }

    #[inline]
    fn show(&mut self, payload_bytes: usize, record: usize, continuation: Continuation) {
        let next = self.head + record as u64;
        self.memory.word(next).store(0, Ordering::Relaxed);
        let more = if continuation == Continuation::More { MORE } else { 0 };
        let word = PRESENT | more | payload_bytes as u64;
        self.memory.word(self.head).store(word, Ordering::Release);
        self.head = next;
        self.waiter.wake(&self.memory.header().consumer_sleeps.0);
    }

    #[inline]
    fn make_room(&mut self, bytes: usize) -> Result<(), Errno> {
        if self.fits(bytes, self.seen_tail) {
            return Ok(());
        }
        self.wait_for_room(bytes)
    }

    #[inline]
    fn fits(&self, bytes: usize, tail: u64) -> bool {
        self.head - tail + bytes as u64 <= self.memory.capacity_bytes() as u64
    }

    #[cold]
    fn wait_for_room(&mut self, bytes: usize) -> Result<(), Errno> {
        if bytes > self.memory.capacity_bytes() {
            return Err(Errno::MSGSIZE);
        }
        let (header, head) = (self.memory.header(), self.head);
        let capacity = self.memory.capacity_bytes() as u64;
        let room = || head - header.tail.0.load(Ordering::Acquire) + bytes as u64 <= capacity;
        self.waiter.until(room, &header.producer_sleeps.0, &header.closed.0)?;
        self.seen_tail = header.tail.0.load(Ordering::Acquire);
        Ok(())
    }

    /// System calls made since this was last asked.
    pub fn take_calls(&mut self) -> u64 {
        self.waiter.take_calls()
    }

    /// Lets go without telling the consumer: for the copy a fork left in the wrong process.
    pub fn disown(mut self) {
        self.armed = false;
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        if self.armed {
            self.memory.close();
        }
    }
}
