//! How large a ring is.

use crate::header::MOST_SLOTS;
use crate::record::{capacity_for, longest_bytes};
use crate::wait::Waiting;

/// What a ring is asked for. [`Options::default`] suits messages of up to some KiB between two CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes of messages that may be on their way, at least: rounded up to a power of two and one page.
    pub capacity_bytes: usize,
    /// The longest piece that is copied at once, bytes: a longer message goes in several, so that both
    /// sides copy at the same time. Best as large as can be where the sides share one CPU; a ring that
    /// does not wait never splits a message.
    pub chunk_bytes: usize,
    /// Bytes of messages that the producer may hold back, to show them to the consumer all at once; 0
    /// shows each as it is sent. Whoever asks for more must call [`crate::Producer::flush`].
    pub batch_bytes: usize,
    /// The longest loan that lies in the ring, bytes; longer ones lie in the pool.
    pub longest_in_ring_bytes: usize,
    /// Slots of the pool: loans of more than `longest_in_ring_bytes` that there may be at once, 32 at most.
    pub slots: u32,
    /// Bytes of the longest loan from the pool.
    pub slot_bytes: usize,
    /// How both sides wait.
    pub waiting: Waiting,
}

impl Options {
    /// The smallest `capacity_bytes` with which a message of `bytes` need not be split.
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
            waiting: Waiting::SpinThenFutex,
        }
    }
}

/// What was made of it.
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
    /// Rounded up to units of `page` bytes; `None` where that is more than there are addresses, or more
    /// slots than a pool has.
    pub(crate) fn of(options: &Options, page: usize) -> Option<Self> {
        let capacity_bytes = options.capacity_bytes.max(page).checked_next_power_of_two()?;
        let longest_bytes = longest_bytes(capacity_bytes);
        let longest_in_ring_bytes = options.longest_in_ring_bytes.min(longest_bytes);
        let chunk_bytes = match options.waiting {
            // Half a message would be left in the ring by whoever may not wait for room.
            Waiting::Never => usize::MAX,
            _ => options.chunk_bytes.clamp(1, longest_bytes),
        };
        let slot_bytes = options.slot_bytes.checked_next_multiple_of(page)?;
        let pool_bytes = slot_bytes.checked_mul(options.slots as usize)?;
        let all_bytes = capacity_bytes.checked_mul(2)?.checked_add(pool_bytes)?;
        if options.slots as usize > MOST_SLOTS || all_bytes > isize::MAX as usize / 2 {
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
