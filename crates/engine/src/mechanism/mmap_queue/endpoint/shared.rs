//! Memory of a queue: the indices, the memory for locks and counts, and the slots.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::process::{Pid, getpid, test_kill_process};

use crate::mechanism::cache_padded::CachePadded;
use crate::mechanism::mapping::{Access, Mapping};
use crate::payload_check::MessageDirection;

/// Time that a side sleeps before it checks whether the other side is alive.
pub(super) const LIVENESS_INTERVAL: Duration = Duration::from_millis(100);
/// Size of the length field in a slot, bytes.
const LENGTH_BYTES: usize = 8;
/// Total size of the slots that is enough for small messages, bytes.
const SLOTS_BYTES: usize = 256 * 1024;

/// Number of slots, and their size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    pub(super) slots: u32,
    slot_bytes: usize,
}

impl Geometry {
    /// Chooses the geometry for messages of up to `message_bytes`.
    pub(super) fn from_message_bytes(message_bytes: usize) -> Self {
        let slot_bytes = (LENGTH_BYTES + message_bytes).next_multiple_of(64);
        let slots = u32::try_from((SLOTS_BYTES / slot_bytes).clamp(2, 64)).unwrap_or(2);
        Self { slots, slot_bytes }
    }
}

/// Shared state in front of the slots. All zero is its initial state.
#[repr(C)]
struct QueueHeader {
    /// Number of messages produced so far.
    filled: CachePadded<AtomicU64>,
    /// Number of messages consumed so far.
    freed: CachePadded<AtomicU64>,
    /// 1 once either side is gone.
    closed: CachePadded<AtomicU32>,
    /// Process IDs of producer and consumer.
    pids: CachePadded<[AtomicU32; 2]>,
    /// Memory for locks, semaphores and condition variables.
    lines: [CachePadded<[u64; 16]>; 4],
}

/// Side of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueueSide {
    Producer,
    Consumer,
}

impl QueueSide {
    pub(super) const fn index(self) -> usize {
        self as usize
    }

    const fn other(self) -> usize {
        1 - self.index()
    }
}

/// The mapped memory of a queue.
#[derive(Debug)]
pub(super) struct QueueMemory {
    mapping: Mapping,
    /// File of the memory, kept for record locks.
    pub(super) file: OwnedFd,
    pub(super) geometry: Geometry,
    /// Direction of this queue.
    pub(super) direction: MessageDirection,
}

impl QueueMemory {
    pub(super) fn new(geometry: Geometry, way: MessageDirection) -> Result<Self, Errno> {
        let slots_bytes = geometry.slot_bytes.checked_mul(geometry.slots as usize);
        let bytes = slots_bytes.and_then(|slots| slots.checked_add(size_of::<QueueHeader>()));
        let bytes = bytes.ok_or(Errno::NOMEM)?;
        let file = memfd_create("ipcperf-queue", MemfdFlags::CLOEXEC)?;
        ftruncate(&file, bytes as u64)?;
        let mapping = Mapping::new(&file, bytes, Access::Write)?;
        Ok(Self { mapping, file, geometry, direction: way })
    }

    /// Stores the process ID of `side` and makes every page present. Called by the process that acts as
    /// `side`.
    pub(super) fn register(&self, side: QueueSide) -> Result<(), Errno> {
        let pid = getpid().as_raw_nonzero().get().unsigned_abs();
        self.header().pids.0[side.index()].store(pid, Ordering::Relaxed);
        self.mapping.populate()
    }

    fn header(&self) -> &QueueHeader {
        let start = self.mapping.address(0, size_of::<QueueHeader>());
        // SAFETY: the mapping begins with a page-aligned header. A new memfd is all zero, which is a valid
        // header. Its atomics are only accessed as atomics, and `lines` only by address.
        unsafe { &*start.cast() }
    }

    /// Returns a piece of initially zero shared memory, 128 bytes long and aligned to 128.
    pub(super) fn line(&self, index: usize) -> *mut u8 {
        let at =
            std::mem::offset_of!(QueueHeader, lines) + index * size_of::<CachePadded<[u64; 16]>>();
        self.mapping.address(at, size_of::<CachePadded<[u64; 16]>>())
    }

    fn slot(&self, number: u64) -> usize {
        #[allow(clippy::cast_possible_truncation, reason = "below the number of slots")]
        let slot = (number % u64::from(self.geometry.slots)) as usize;
        size_of::<QueueHeader>() + slot * self.geometry.slot_bytes
    }

    /// Copies message `number` into its slot.
    #[inline]
    pub(super) fn write(&self, number: u64, bytes: &[u8]) -> Result<(), Errno> {
        if bytes.len() > self.geometry.slot_bytes - LENGTH_BYTES {
            return Err(Errno::MSGSIZE);
        }
        let slot = self.slot(number);
        self.mapping.copy_in(slot, &(bytes.len() as u64).to_ne_bytes());
        self.mapping.copy_in(slot + LENGTH_BYTES, bytes);
        Ok(())
    }

    /// Copies message `number` out of its slot.
    #[inline]
    pub(super) fn read(&self, number: u64, into: &mut [u8]) -> Result<usize, Errno> {
        let (slot, mut length) = (self.slot(number), [0; LENGTH_BYTES]);
        self.mapping.copy_out(slot, &mut length);
        let length = usize::try_from(u64::from_ne_bytes(length)).map_err(|_| Errno::BADMSG)?;
        let into = into.get_mut(..length).ok_or(Errno::MSGSIZE)?;
        self.mapping.copy_out(slot + LENGTH_BYTES, into);
        Ok(length)
    }

    /// Publishes that `side` has moved `position` messages.
    #[inline]
    pub(super) fn publish(&self, side: QueueSide, position: u64) {
        let header = self.header();
        let index = if side == QueueSide::Producer { &header.filled } else { &header.freed };
        index.0.store(position, Ordering::Release);
    }

    /// Marks the queue as closed because one side is gone.
    pub(super) fn close(&self) {
        self.header().closed.0.store(1, Ordering::Release);
    }
}

/// The queue as one side sees it, at its position.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    shared: &'a QueueMemory,
    side: QueueSide,
    position: u64,
}

impl<'a> View<'a> {
    pub(super) const fn new(shared: &'a QueueMemory, side: QueueSide, position: u64) -> Self {
        Self { shared, side, position }
    }

    /// Returns whether this side can move a message.
    #[inline]
    pub(super) fn is_ready(self) -> bool {
        let header = self.shared.header();
        match self.side {
            QueueSide::Producer => {
                let freed = header.freed.0.load(Ordering::Acquire);
                self.position - freed < u64::from(self.shared.geometry.slots)
            }
            QueueSide::Consumer => header.filled.0.load(Ordering::Acquire) != self.position,
        }
    }

    /// Returns whether the other side has closed the queue.
    #[inline]
    pub(super) fn is_closed(self) -> bool {
        self.shared.header().closed.0.load(Ordering::Acquire) != 0
    }

    /// Returns whether the other side's process is gone, with one system call, which is added to `calls`.
    #[cold]
    pub(super) fn is_orphaned(self, calls: &mut u64) -> bool {
        let raw = self.shared.header().pids.0[self.side.other()].load(Ordering::Relaxed);
        let Some(pid) = i32::try_from(raw).ok().and_then(Pid::from_raw) else { return false };
        *calls += 1;
        test_kill_process(pid) == Err(Errno::SRCH)
    }
}
