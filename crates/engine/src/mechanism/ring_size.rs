//! Sizes of the rings of `shm-ring`, which depend on the caches of the two CPUs.

use std::time::Duration;

use crate::channel::{PeerPlacement, Setup};
use crate::limits::cacheline::round_trip_between_ns;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
/// Smallest capacity of a ring, where a page is as small as that.
const MIN_BYTES: usize = 4 * KIB;
/// Duration of the measurement of the distance between the two CPUs.
const PROBE_DURATION: Duration = Duration::from_millis(1);

/// Access to messages in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    /// Messages are copied in and out.
    Copy,
    /// Messages are written and read in place.
    Loan,
}

/// Amount of memory that a ring cycles through, and the size of its chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RingSize {
    /// Capacity for messages in flight, bytes.
    pub(super) capacity_bytes: usize,
    /// Longest piece that is copied at once, bytes.
    pub(super) chunk_bytes: usize,
    /// Maximum length, bytes, of a loan that lies in the ring. Longer loans lie in the pool, which lends the slot
    /// freed last again; a ring cycles through all of its memory.
    pub(super) max_in_ring_bytes: usize,
}

/// Cache-line round trip below which two CPUs share their private caches, ns. Two hardware threads of a core took 51 ns, two
/// cores with a common last-level cache 105 to 123 ns, and two sockets 480 ns (AMD EPYC).
const SHARED_BELOW_NS: f64 = 80.0;

/// Small enough to stay in a cache together with the buffers of a round trip.
const ROUND_TRIP: RingSize =
    RingSize { capacity_bytes: 256 * KIB, chunk_bytes: 24 * KIB, max_in_ring_bytes: 16 * KIB };
const STREAM: RingSize =
    RingSize { capacity_bytes: MIB, chunk_bytes: 64 * KIB, max_in_ring_bytes: 16 * KIB };
/// Sizes for CPUs with separate private caches, larger than these: memory that the other CPU has just read is slow to write,
/// because its cache must give it up first, and written data is read faster from the last-level cache than from the writer's
/// private cache.
const SEPARATE_ROUND_TRIP: RingSize = RingSize { capacity_bytes: 2 * MIB, ..ROUND_TRIP };
const SEPARATE_LOANED_ROUND_TRIP: RingSize =
    RingSize { capacity_bytes: 4 * MIB, max_in_ring_bytes: MIB, ..ROUND_TRIP };
const SEPARATE_STREAM: RingSize = RingSize { capacity_bytes: 8 * MIB, ..STREAM };
const SEPARATE_LOANED_STREAM: RingSize =
    RingSize { capacity_bytes: 16 * MIB, chunk_bytes: 64 * KIB, max_in_ring_bytes: 4 * MIB };

impl RingSize {
    /// Returns the sizes for the workload of `setup`, with messages accessed by `api`, and with the capacity
    /// `requested_bytes` if that is given.
    pub(super) fn new(
        setup: &Setup<'_>,
        (api, caches): (Api, Caches),
        requested_bytes: Option<u64>,
    ) -> Self {
        let usual = Self::usual(setup, api, caches);
        let Some(bytes) = requested_bytes else { return usual };
        let capacity_bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        // At least the page that a ring has; several loans must fit.
        let max_in_ring_bytes = usual.max_in_ring_bytes.min(capacity_bytes.max(MIN_BYTES) / 4);
        Self { capacity_bytes, max_in_ring_bytes, ..usual }
    }

    fn usual(setup: &Setup<'_>, api: Api, caches: Caches) -> Self {
        match (caches, setup.workload.is_answered(), api) {
            (Caches::Shared, true, _) => ROUND_TRIP,
            (Caches::Shared, false, _) => STREAM,
            (Caches::Separate, true, Api::Copy) => SEPARATE_ROUND_TRIP,
            (Caches::Separate, true, Api::Loan) => SEPARATE_LOANED_ROUND_TRIP,
            (Caches::Separate, false, Api::Copy) => SEPARATE_STREAM,
            (Caches::Separate, false, Api::Loan) => SEPARATE_LOANED_STREAM,
        }
    }
}

/// Private caches of the peers' CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caches {
    /// Those of one CPU, or it is not known on which CPUs the peers run.
    Shared,
    /// Each CPU has its own.
    Separate,
}

impl Caches {
    /// Returns the caches that the other program found and passed as a number.
    pub(super) fn from_mark(mark: u8) -> Self {
        if mark == Self::Separate as u8 { Self::Separate } else { Self::Shared }
    }

    /// Decides by the measured cache-line round trip, since a virtual machine may misreport its CPUs. CPUs too busy to be
    /// measured count as those that share caches.
    pub(super) fn measure(setup: &Setup<'_>) -> Self {
        let (PeerPlacement::SeparateCpus, Some(cpus)) = (setup.placement, setup.cpus) else {
            return Self::Shared;
        };
        match round_trip_between_ns(cpus, PROBE_DURATION) {
            Ok(trip_ns) if trip_ns >= SHARED_BELOW_NS => Self::Separate,
            _ => Self::Shared,
        }
    }
}
