//! Sizes of a ring.

use crate::header::MAX_SLOTS;
use crate::record::{capacity_for, max_payload_bytes};
use crate::wait::WaitStrategy;

/// Requested properties of a ring. [`Options::default`] suits messages of up to some KiB between two CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Minimum capacity for messages in flight, bytes; rounded up to a power of two and to one page.
    pub capacity_bytes: usize,
    /// Longest piece that is copied at once, bytes. A longer message is sent in several pieces, so that both sides copy
    /// at the same time. If the sides share one CPU, larger is better. A ring that does not wait never splits a
    /// message.
    pub chunk_bytes: usize,
    /// Bytes of messages that the producer may hold back, to publish them to the consumer all at once; 0 publishes each
    /// message as it is sent. With a larger value the caller must call [`crate::Producer::flush`].
    pub batch_bytes: usize,
    /// Longest loan that lies in the ring, bytes; longer ones lie in the pool.
    pub longest_in_ring_bytes: usize,
    /// Slots of the pool: maximum number of concurrent loans longer than `longest_in_ring_bytes`, at most 32.
    pub slots: u32,
    /// Size of the longest loan from the pool, bytes.
    pub slot_bytes: usize,
    /// How both sides wait.
    pub waiting: WaitStrategy,
}

impl Options {
    /// Smallest `capacity_bytes` with which a message of `bytes` need not be split.
    #[must_use]
    pub const fn capacity_for(bytes: usize) -> usize {
        capacity_for(bytes)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            capacity_bytes: 256 << 10,
            chunk_bytes: 32 << 10,
            batch_bytes: 0,
            longest_in_ring_bytes: usize::MAX,
            slots: 0,
            slot_bytes: 0,
            waiting: WaitStrategy::SpinThenFutex,
        }
    }
}

/// Actual sizes of a ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    pub(crate) capacity_bytes: usize,
    pub(crate) chunk_bytes: usize,
    pub(crate) batch_bytes: usize,
    pub(crate) longest_in_ring_bytes: usize,
    pub(crate) slots: u32,
    pub(crate) slot_bytes: usize,
}

impl Geometry {
    /// Rounds the sizes up to units of `page` bytes. Returns `None` if they exceed the address space, or if there are
    /// more slots than a pool can have.
    pub(crate) fn from_options(options: &Options, page: usize) -> Option<Self> {
        let capacity_bytes = options.capacity_bytes.max(page).checked_next_power_of_two()?;
        let longest_bytes = max_payload_bytes(capacity_bytes);
        let longest_in_ring_bytes = options.longest_in_ring_bytes.min(longest_bytes);
        let chunk_bytes = match options.waiting {
            // A side that may not wait for room would leave half a message in the ring.
            WaitStrategy::NonBlocking => usize::MAX,
            _ => options.chunk_bytes.clamp(1, longest_bytes),
        };
        let slot_bytes = options.slot_bytes.checked_next_multiple_of(page)?;
        let pool_bytes = slot_bytes.checked_mul(options.slots as usize)?;
        let all_bytes = capacity_bytes.checked_mul(2)?.checked_add(pool_bytes)?;
        if options.slots as usize > MAX_SLOTS || all_bytes > isize::MAX as usize / 2 {
            return None;
        }
        Some(Self {
            capacity_bytes,
            chunk_bytes,
            batch_bytes: options.batch_bytes,
            longest_in_ring_bytes,
            slots: options.slots,
            slot_bytes,
        })
    }

    pub(crate) const fn pool_bytes(&self) -> usize {
        self.slots as usize * self.slot_bytes
    }
}
