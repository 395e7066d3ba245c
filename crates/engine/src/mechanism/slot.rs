//! One slot of shared memory in each direction, and the bells that say when it can be used: what
//! the doorbells have in common.
//!
//! ```text
//! sender:   empty? -> payload -> length (Release) -> rings `full`
//! receiver: takes a ring of `full` -> payload -> 0 (Release) -> rings `room`, where announced
//! ```
//!
//! `full` is rung for each message, and each ring is taken: that is the doorbell. Whether there is
//! room stands in the slot itself; the sender announces that it waits for it, and only then is
//! `room` rung. A side that leaves rings both, so that nobody sleeps on; one that is killed rings
//! nothing, and the worker ends the other.

use std::cell::UnsafeCell;
use std::os::fd::OwnedFd;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

use super::descriptor::refused;
use super::{Blocking, Endpoint, Granted, Opened, Setup, Unavailable};
use crate::Failure;
use crate::workload::Kind;

/// Set in the word of a slot that holds a message, beside its length.
const PRESENT: u64 = 1 << 63;

/// A count of rings: ringing adds one, taking waits for one and takes it off.
pub(super) trait Bell: Clone + Send + 'static {
    /// Adds a ring; the system calls that took are added to `calls`.
    fn ring(&self, calls: &mut u64) -> Result<(), Errno>;

    /// Takes a ring, and waits for it where the set-up says so: else `EAGAIN`. `EPIPE` where the
    /// bell is gone.
    fn take(&self, calls: &mut u64) -> Result<(), Errno>;

    /// Removes what would outlive the processes; nothing, for most.
    fn retire(&self) {}
}

/// Where a bell belongs: its number among the four, and memory of its own in the slot's header.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) number: u16,
    pub(super) blocking: Blocking,
    memory: Arc<Shared>,
    offset: usize,
}

/// What a bell may keep in shared memory: two cache lines, all zero at first.
pub(super) type BellMemory = UnsafeCell<[u64; 16]>;

impl Spot {
    /// The bell's own memory, which lives as long as the spot.
    pub(super) fn address(&self) -> NonNull<BellMemory> {
        // SAFETY: `offset` is that of a bell in a header, which lies inside the mapping.
        unsafe { self.memory.start.add(self.offset) }.cast()
    }
}

/// Two cache lines of its own, since CPUs fetch lines in pairs.
#[derive(Debug)]
#[repr(C, align(128))]
struct Line<T>(T);

/// What stands before the payload of a slot. All zero is its initial state.
#[repr(C)]
struct Header {
    /// 0, or [`PRESENT`] and the length of the message.
    word: Line<AtomicU64>,
    /// 1 while the sender waits for room or is about to.
    sleeps: Line<AtomicU32>,
    /// 1 once either side is gone.
    closed: Line<AtomicU32>,
    bells: [Line<BellMemory>; 2],
}

/// Shared memory, mapped.
#[derive(Debug)]
pub(super) struct Shared {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory is shared by design; it is reached through atomics and through the protocol
// of the slot, which gives the payload to one side at a time.
unsafe impl Send for Shared {}
// SAFETY: as for `Send`.
unsafe impl Sync for Shared {}

impl Shared {
    /// Maps `bytes` of a new memfd.
    pub(super) fn memfd(bytes: usize) -> Result<Self, Errno> {
        Self::of_file(&memfd_create("ipcperf-slot", MemfdFlags::CLOEXEC)?, bytes)
    }

    /// Maps the first `bytes` of `file`, made so long.
    pub(super) fn of_file(file: &OwnedFd, bytes: usize) -> Result<Self, Errno> {
        ftruncate(file, bytes as u64)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice aliases nothing.
        let start = unsafe { mmap(null_mut(), bytes, access, MapFlags::SHARED, file, 0) }?;
        Ok(Self { start: NonNull::new(start.cast()).ok_or(Errno::NOMEM)?, bytes })
    }

    /// Takes over a mapping.
    ///
    /// # Safety
    /// `start` must be that of a shared mapping of `bytes` zeroes that nobody else will unmap.
    pub(super) unsafe fn of_mapping(start: NonNull<u8>, bytes: usize) -> Self {
        Self { start, bytes }
    }

    /// Its first byte.
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Makes every page present in the calling process.
    fn populate(&self) -> Result<(), Errno> {
        // SAFETY: the range is this mapping; populating does not change its contents.
        let done =
            unsafe { madvise(self.start.as_ptr().cast(), self.bytes, Advice::LinuxPopulateWrite) };
        if done != Err(Errno::INVAL) {
            return done;
        }
        // Before Linux 5.14 each page is written to by adding nothing to its first word.
        for at in (0..self.bytes).step_by(rustix::param::page_size()) {
            // SAFETY: page-aligned and inside the mapping, where the first word of a page is either
            // an atomic of a header or payload that nobody uses before the parties have met.
            unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(at).cast()) }
                .fetch_add(0, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping has this length, and both sides, which hold it in an `Arc`, are gone.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// Whether a memfd can be had.
pub(super) fn memory_available() -> Result<(), Unavailable> {
    memfd_create("ipcperf-probe", MemfdFlags::CLOEXEC).map(drop).map_err(|errno| Unavailable {
        reason: format!("memfd_create: {errno}"),
        remedy: "needs Linux 3.17 and a seccomp filter that lets memfd_create through".to_owned(),
    })
}

/// One direction, as one of its sides sees it.
#[derive(Debug)]
pub(super) struct Lane<B> {
    memory: Arc<Shared>,
    offset: usize,
    most_bytes: usize,
    blocking: Blocking,
    full: B,
    room: B,
    calls: u64,
}

impl<B: Bell> Lane<B> {
    fn header(&self) -> &Header {
        // SAFETY: each slot begins with a page-aligned header that is zero at first, which is a
        // valid one; it is only reached through atomics and bells, and lives as long as `memory`.
        unsafe { self.memory.start.add(self.offset).cast().as_ref() }
    }

    fn payload(&self) -> *mut u8 {
        // SAFETY: `slot_bytes` made room for header and payload from `offset` on.
        unsafe { self.memory.start.add(self.offset + header_bytes()).as_ptr() }
    }

    /// Puts a message into the slot, once there is room, and rings.
    #[inline]
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        if bytes.len() > self.most_bytes {
            return Err(Errno::MSGSIZE);
        }
        self.await_room()?;
        // SAFETY: the slot is empty, so the payload is the sender's alone until the word is stored,
        // and it has room for `most_bytes`.
        unsafe { self.payload().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        self.header().word.0.store(PRESENT | bytes.len() as u64, Ordering::Release);
        self.full.ring(&mut self.calls)
    }

    /// Returns once the slot is empty: whatever was put has been used.
    #[inline]
    pub(super) fn await_room(&mut self) -> Result<(), Errno> {
        while self.header().word.0.load(Ordering::Acquire) != 0 {
            self.sleep_until_room()?;
        }
        Ok(())
    }

    /// Announces, looks once more, sleeps. The fence pairs with the one in [`Lane::get`]: either
    /// this side sees that there is room, or the other sees the announcement.
    #[cold]
    fn sleep_until_room(&mut self) -> Result<(), Errno> {
        if self.header().closed.0.load(Ordering::Acquire) != 0 {
            return Err(Errno::PIPE);
        }
        if self.blocking == Blocking::Try {
            return Err(Errno::AGAIN);
        }
        self.header().sleeps.0.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let header = self.header();
        if header.word.0.load(Ordering::Acquire) == 0
            || header.closed.0.load(Ordering::Acquire) != 0
        {
            header.sleeps.0.store(0, Ordering::Relaxed);
            return Ok(());
        }
        self.room.take(&mut self.calls)
    }

    /// Takes a ring and has `using` use the message, after which the slot is empty. Returns what
    /// that returned, or 0 where the sender is gone.
    #[inline]
    pub(super) fn get(
        &mut self,
        using: impl FnOnce(&[u8]) -> Result<usize, Errno>,
    ) -> Result<usize, Errno> {
        match self.full.take(&mut self.calls) {
            Ok(()) | Err(Errno::PIPE) => {}
            Err(errno) => return Err(errno),
        }
        let word = self.header().word.0.load(Ordering::Acquire);
        if word == 0 {
            return Ok(0);
        }
        // Checked: the word lies in memory that is shared.
        let bytes = usize::try_from(word & !PRESENT).map_err(|_| Errno::BADMSG)?;
        if bytes > self.most_bytes {
            return Err(Errno::BADMSG);
        }
        // SAFETY: the Acquire load saw the sender's Release of this message, so its payload is
        // complete, fits, and stays until the word is 0.
        let used = using(unsafe { std::slice::from_raw_parts(self.payload(), bytes) });
        self.header().word.0.store(0, Ordering::Release);
        fence(Ordering::SeqCst);
        let sleeps = &self.header().sleeps.0;
        if sleeps.load(Ordering::Relaxed) != 0 && sleeps.swap(0, Ordering::Relaxed) != 0 {
            self.room.ring(&mut self.calls)?;
        }
        used
    }

    fn close(&mut self) {
        self.header().closed.0.store(1, Ordering::Release);
        fence(Ordering::SeqCst);
        // A bell that cannot be rung any more has been retired by the other side.
        let _ = self.full.ring(&mut self.calls);
        let _ = self.room.ring(&mut self.calls);
    }
}

/// One end: a lane out and a lane in.
#[derive(Debug)]
pub(super) struct SlotEnd<B: Bell> {
    pub(super) out: Lane<B>,
    pub(super) into: Lane<B>,
    armed: bool,
}

impl<B: Bell> Endpoint for SlotEnd<B> {
    const KEEPS_BOUNDARIES: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        self.out.memory.populate()
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.out.put(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.into.get(|message| {
            bytes.get_mut(..message.len()).ok_or(Errno::MSGSIZE)?.copy_from_slice(message);
            Ok(message.len())
        })
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.out.calls) + std::mem::take(&mut self.into.calls))
    }

    fn disown(mut self) {
        self.armed = false;
    }
}

impl<B: Bell> Drop for SlotEnd<B> {
    fn drop(&mut self) {
        if self.armed {
            self.out.close();
            self.into.close();
            self.out.full.retire();
        }
    }
}

fn header_bytes() -> usize {
    size_of::<Header>().next_multiple_of(rustix::param::page_size())
}

fn slot_bytes(most_bytes: usize) -> usize {
    header_bytes() + most_bytes.next_multiple_of(rustix::param::page_size())
}

/// The longest messages there and back. A stream never goes back.
fn most_bytes(setup: &Setup<'_>) -> [usize; 2] {
    let there = usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 8).min(usize::MAX / 8);
    if setup.workload == Kind::Stream { [there, 1] } else { [there, there] }
}

/// Bytes of shared memory that both slots take.
pub(super) fn memory_bytes(setup: &Setup<'_>) -> usize {
    most_bytes(setup).into_iter().map(slot_bytes).sum()
}

/// Shared memory for both slots, in a memfd.
pub(super) fn memory(setup: &Setup<'_>) -> Result<Shared, Failure> {
    Shared::memfd(memory_bytes(setup)).map_err(no_memory)
}

/// The system had no room for the slots.
pub(super) fn no_memory(errno: Errno) -> Failure {
    refused("mapping the slots", errno).with_remedy("free memory, or use smaller messages")
}

/// Both ends over `memory`, which has [`memory_bytes`], with bells from `make`.
pub(super) fn ends<B: Bell>(
    setup: &Setup<'_>,
    memory: Shared,
    mut make: impl FnMut(Spot) -> Result<B, Failure>,
) -> Result<Opened<SlotEnd<B>>, Failure> {
    let memory = Arc::new(memory);
    let [there_bytes, back_bytes] = most_bytes(setup);
    let there = lanes(setup, &memory, [0, there_bytes], &mut make)?;
    let back = lanes(setup, &memory, [slot_bytes(there_bytes), back_bytes], &mut make)?;
    let ([out_there, into_there], [out_back, into_back]) = (there, back);
    Ok(Opened {
        sender: SlotEnd { out: out_there, into: into_back, armed: true },
        receiver: SlotEnd { out: out_back, into: into_there, armed: true },
        granted: Granted::default(),
    })
}

/// Both sides of the slot at an offset, for messages of so many bytes.
fn lanes<B: Bell>(
    setup: &Setup<'_>,
    memory: &Arc<Shared>,
    [offset, most_bytes]: [usize; 2],
    make: &mut impl FnMut(Spot) -> Result<B, Failure>,
) -> Result<[Lane<B>; 2], Failure> {
    let mut bell = |index: u16| {
        let bells = offset + std::mem::offset_of!(Header, bells);
        make(Spot {
            number: index + if offset == 0 { 0 } else { 2 },
            blocking: setup.blocking,
            memory: Arc::clone(memory),
            offset: bells + usize::from(index) * size_of::<Line<BellMemory>>(),
        })
    };
    let (full, room) = (bell(0)?, bell(1)?);
    let side = || Lane {
        memory: Arc::clone(memory),
        offset,
        most_bytes,
        blocking: setup.blocking,
        full: full.clone(),
        room: room.clone(),
        calls: 0,
    };
    Ok([side(), side()])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::thread;
    use std::time::Duration;

    use super::super::Nearness;
    use super::super::futex::FutexBell;
    use super::*;

    fn opened(blocking: Blocking, buffer_bytes: u64) -> Opened<SlotEnd<FutexBell>> {
        let setup = Setup {
            options: &BTreeMap::new(),
            buffer_bytes,
            kernel_buffer_asked_bytes: None,
            nearness: Nearness::Unpinned,
            cpus: None,
            blocking,
            workload: Kind::RoundTrip,
        };
        ends(&setup, memory(&setup).unwrap(), |spot| Ok(FutexBell { spot })).unwrap()
    }

    #[test]
    fn one_message_fills_the_slot_and_an_empty_one_says_so() {
        let Opened { mut sender, mut receiver, .. } = opened(Blocking::Try, 100);
        let mut got = [0; 100];
        for round in 0..3 {
            assert_eq!(receiver.recv(&mut got), Err(Errno::AGAIN));
            assert_eq!(sender.send(&[round; 100]), Ok(100));
            assert_eq!(sender.send(&[9; 100]), Err(Errno::AGAIN));
            assert_eq!(receiver.recv(&mut got), Ok(100));
            assert_eq!(got, [round; 100]);
        }
        assert_eq!(sender.send(&[0; 101]), Err(Errno::MSGSIZE));
        assert_eq!(sender.take_calls(), Some(0));
    }

    #[test]
    fn a_side_that_leaves_ends_the_wait_of_the_other() {
        let Opened { sender, mut receiver, .. } = opened(Blocking::Wait, 8);
        let waiter = thread::spawn(move || receiver.recv(&mut [0; 8]));
        thread::sleep(Duration::from_millis(5));
        drop(sender);
        assert_eq!(waiter.join().unwrap(), Ok(0));

        let Opened { mut sender, receiver, .. } = opened(Blocking::Wait, 8);
        sender.send(&[1; 8]).unwrap();
        let waiter = thread::spawn(move || sender.send(&[2; 8]));
        thread::sleep(Duration::from_millis(5));
        drop(receiver);
        assert_eq!(waiter.join().unwrap(), Err(Errno::PIPE));
    }

    #[test]
    fn what_was_put_before_the_sender_left_is_still_received() {
        let Opened { mut sender, mut receiver, .. } = opened(Blocking::Wait, 8);
        sender.send(&[7; 8]).unwrap();
        drop(sender);
        let mut got = [0; 8];
        assert_eq!(receiver.recv(&mut got), Ok(8));
        assert_eq!(got, [7; 8]);
        assert_eq!(receiver.recv(&mut got), Ok(0));
    }

    #[test]
    fn messages_arrive_whole_and_in_order() {
        let Opened { mut sender, mut receiver, .. } = opened(Blocking::Wait, 5_000);
        let message = |number: usize| vec![u8::try_from(number % 251).unwrap(); number % 5_000 + 1];
        let waiter = thread::spawn(move || {
            for number in 0..3_000 {
                sender.send(&message(number)).unwrap();
            }
        });
        let mut got = vec![0; 5_000];
        for number in 0..3_000 {
            let bytes = receiver.recv(&mut got).unwrap();
            assert_eq!(got[..bytes], message(number));
        }
        waiter.join().unwrap();
    }
}
