//! What both sides share beside the messages.

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence, futex_wake};

/// Slots that a pool has, at most: what one line of notes has room for.
pub(crate) const MOST_SLOTS: usize = 32;

/// Two cache lines of its own, since CPUs fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub(crate) struct Line<T>(pub(crate) T);

/// All zero is its initial state.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Header {
    /// How far the consumer has come, bytes since the beginning; published now and then.
    pub(crate) tail: Line<AtomicU64>,
    /// 1 while the consumer sleeps or is about to.
    pub(crate) consumer_sleeps: Line<AtomicU32>,
    /// 1 while the producer sleeps or is about to.
    pub(crate) producer_sleeps: Line<AtomicU32>,
    /// 1 once either side is gone.
    pub(crate) closed: Line<AtomicU32>,
    /// Slots of the pool that the consumer gave back, in that order: the slot's number and 1.
    pub(crate) freed: Line<[AtomicU32; MOST_SLOTS]>,
}

impl Header {
    /// Says that one side is gone and wakes the other.
    pub(crate) fn close(&self) {
        self.closed.0.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        for sleeps in [&self.consumer_sleeps.0, &self.producer_sleeps.0] {
            sleeps.store(0, Ordering::Relaxed);
            futex_wake(sleeps);
        }
    }
}
