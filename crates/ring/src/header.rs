//! Shared state of both sides, apart from the messages.

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence, futex_wake};

/// Maximum number of slots of a pool: the number of notes that fit into one line.
pub(crate) const MAX_SLOTS: usize = 32;

/// A value on a separate pair of cache lines, since CPUs fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub(crate) struct CachePadded<T>(pub(crate) T);

/// Header of a ring. All zero is its initial state.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Header {
    /// Position of the consumer, bytes since the ring's creation; published at intervals.
    pub(crate) tail: CachePadded<AtomicU64>,
    /// 1 while the consumer sleeps or is about to sleep.
    pub(crate) consumer_sleeps: CachePadded<AtomicU32>,
    /// 1 while the producer sleeps or is about to sleep.
    pub(crate) producer_sleeps: CachePadded<AtomicU32>,
    /// 1 once either side is gone.
    pub(crate) closed: CachePadded<AtomicU32>,
    /// Slots of the pool that the consumer returned, in that order: the slot's number plus 1.
    pub(crate) freed: CachePadded<[AtomicU32; MAX_SLOTS]>,
}

impl Header {
    /// Marks one side as gone and wakes the other.
    pub(crate) fn close(&self) {
        self.closed.0.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        for sleeps in [&self.consumer_sleeps.0, &self.producer_sleeps.0] {
            sleeps.store(0, Ordering::Relaxed);
            futex_wake(sleeps);
        }
    }
}
