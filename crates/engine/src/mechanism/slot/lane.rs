//! One direction: a slot and its two bells.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use rustix::io::Errno;

use super::{Doorbell, DoorbellMemory, SlotMemory};
use crate::channel::Blocking;
use crate::mechanism::cache_padded::CachePadded;

/// Bit set in the word of a slot that holds a message; the other bits are its length.
const PRESENT: u64 = 1 << 63;

/// Header in front of the payload of a slot. All zero is its initial state.
#[repr(C)]
pub(super) struct SlotHeader {
    /// 0, or [`PRESENT`] and the length of the message.
    length_word: CachePadded<AtomicU64>,
    /// 1 while the sender waits for room or is about to.
    sender_waits: CachePadded<AtomicU32>,
    /// 1 once either side is gone.
    closed: CachePadded<AtomicU32>,
    pub(super) doorbells: [CachePadded<DoorbellMemory>; 2],
}

/// Returns the size of a header, bytes: whole pages.
pub(super) fn header_bytes() -> usize {
    size_of::<SlotHeader>().next_multiple_of(rustix::param::page_size())
}

/// One direction as one of its sides sees it.
#[derive(Debug)]
pub(in super::super) struct Lane<B> {
    pub(super) memory: Arc<SlotMemory>,
    pub(super) offset: usize,
    pub(super) max_bytes: usize,
    pub(in super::super) blocking: Blocking,
    pub(super) full: B,
    pub(super) room: B,
    pub(super) calls: u64,
}

impl<B: Doorbell> Lane<B> {
    fn header(&self) -> &SlotHeader {
        // SAFETY: each slot begins with a page-aligned header that is zero at first, which is valid; it is
        // only accessed through atomics and bells, and lives as long as `memory`.
        unsafe { self.memory.start.add(self.offset).cast().as_ref() }
    }

    fn payload(&self) -> *mut u8 {
        // SAFETY: `slot_bytes` allocated header and payload from `offset` on.
        unsafe { self.memory.start.add(self.offset + header_bytes()).as_ptr() }
    }

    /// Puts a message into the slot once there is room, and rings.
    #[inline]
    pub(in super::super) fn put(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        self.put_as(self.blocking, bytes)
    }

    /// Like [`Lane::put`], but returns `EAGAIN` without room if `blocking` says so.
    #[inline]
    pub(in super::super) fn put_as(
        &mut self,
        blocking: Blocking,
        bytes: &[u8],
    ) -> Result<(), Errno> {
        if bytes.len() > self.max_bytes {
            return Err(Errno::MSGSIZE);
        }
        self.await_room(blocking)?;
        // SAFETY: the slot is empty, so the payload belongs to the sender alone until the word is stored, and
        // it has room for `max_bytes`.
        unsafe { self.payload().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        self.header().length_word.0.store(PRESENT | bytes.len() as u64, Ordering::Release);
        self.full.ring(&mut self.calls)
    }

    /// Returns once the slot is empty: the last message has been used. Returns `EAGAIN` instead of waiting if `blocking`
    /// says so.
    #[inline]
    pub(in super::super) fn await_room(&mut self, blocking: Blocking) -> Result<(), Errno> {
        while self.header().length_word.0.load(Ordering::Acquire) != 0 {
            self.sleep_until_room(blocking)?;
        }
        Ok(())
    }

    /// Announces that this side waits, checks again, and sleeps. The fence pairs with the one in
    /// [`Lane::get_rung`]: either this side sees the room, or the other sees the announcement.
    #[cold]
    fn sleep_until_room(&mut self, blocking: Blocking) -> Result<(), Errno> {
        if self.header().closed.0.load(Ordering::Acquire) != 0 {
            return Err(Errno::PIPE);
        }
        if blocking == Blocking::Try {
            return Err(Errno::AGAIN);
        }
        self.header().sender_waits.0.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let header = self.header();
        if header.length_word.0.load(Ordering::Acquire) == 0
            || header.closed.0.load(Ordering::Acquire) != 0
        {
            header.sender_waits.0.store(0, Ordering::Relaxed);
            return Ok(());
        }
        self.room.wait(&mut self.calls)
    }

    /// Takes a ring and lets `using` use the message, after which the slot is empty. Returns the result of
    /// `using`, or 0 if the sender is gone.
    #[inline]
    pub(in super::super) fn get(
        &mut self,
        using: impl FnOnce(&[u8]) -> Result<usize, Errno>,
    ) -> Result<usize, Errno> {
        let taken = self.full.wait(&mut self.calls);
        self.get_rung(taken, using)
    }

    /// Like [`Lane::get`], but returns `EAGAIN` if there is no ring.
    #[inline]
    pub(in super::super) fn try_get(
        &mut self,
        using: impl FnOnce(&[u8]) -> Result<usize, Errno>,
    ) -> Result<usize, Errno> {
        let taken = self.full.try_wait(&mut self.calls);
        self.get_rung(taken, using)
    }

    /// The rest of [`Lane::get`], once a ring has been `taken`.
    #[inline]
    fn get_rung(
        &mut self,
        taken: Result<(), Errno>,
        using: impl FnOnce(&[u8]) -> Result<usize, Errno>,
    ) -> Result<usize, Errno> {
        match taken {
            Ok(()) | Err(Errno::PIPE) => {}
            Err(errno) => return Err(errno),
        }
        let word = self.header().length_word.0.load(Ordering::Acquire);
        if word == 0 {
            return Ok(0);
        }
        // Checked because the word lies in shared memory.
        let bytes = usize::try_from(word & !PRESENT).map_err(|_| Errno::BADMSG)?;
        if bytes > self.max_bytes {
            return Err(Errno::BADMSG);
        }
        // SAFETY: the Acquire load saw the sender's Release of this message, so its payload is complete,
        // fits, and stays until the word is 0.
        let used = using(unsafe { std::slice::from_raw_parts(self.payload(), bytes) });
        self.header().length_word.0.store(0, Ordering::Release);
        fence(Ordering::SeqCst);
        let sleeps = &self.header().sender_waits.0;
        if sleeps.load(Ordering::Relaxed) != 0 && sleeps.swap(0, Ordering::Relaxed) != 0 {
            self.room.ring(&mut self.calls)?;
        }
        used
    }

    pub(super) fn close(&mut self) {
        self.header().closed.0.store(1, Ordering::Release);
        fence(Ordering::SeqCst);
        // A bell that can no longer be rung has been retired by the other side.
        let _ = self.full.ring(&mut self.calls);
        let _ = self.room.ring(&mut self.calls);
    }
}
