//! How much to move where no total was given: enough for a run of at least 16 ms.
//!
//! Short phases in the same pair of parties find the rate; each party computes the same answer
//! from the same elapsed time, so they need not tell each other. Only the last phase counts.

use crate::RunSpec;
use crate::workload::{Extent, Workload};

/// What a run shall last at least.
pub const LEAST_NS: u64 = 16_000_000;
/// What it is aimed at, so that a faster stretch does not fall below.
const AIM_NS: u64 = 21_000_000;
/// Bytes of the first phase, and its most messages.
const FIRST_BYTES: usize = 1 << 20;
const FIRST_MESSAGES: usize = 16;
/// A phase grows at most so much over the one before: the first ones say little.
const GROWTH: u64 = 64;
/// After so many phases what was measured stands, however short.
const MOST_PHASES: u32 = 12;

/// The state of the search, kept alike by each party.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calibration {
    given: Option<Extent>,
    pub(super) extent: Extent,
    pub(super) phases: u32,
}

impl Calibration {
    /// Starts from the total that was given, or from a few messages.
    pub(super) fn start<W: Workload>(spec: &RunSpec, buffer_bytes: usize) -> Self {
        let given = spec.total_bytes.map(|total| W::extent(buffer_bytes, total.max(1)));
        let messages = (FIRST_BYTES / buffer_bytes).clamp(1, FIRST_MESSAGES) as u64;
        let extent = given.unwrap_or(Extent::whole(buffer_bytes, messages));
        Self { given, extent, phases: 0 }
    }

    /// Whether the phase that took `elapsed_ns` counts; if not, `extent` is the next phase's.
    pub(super) fn settles(&mut self, elapsed_ns: u64) -> bool {
        let is_pilot = self.phases == 0;
        if self.given.is_some()
            || (!is_pilot && elapsed_ns >= LEAST_NS)
            || self.phases == MOST_PHASES
        {
            return true;
        }
        self.phases += 1;
        self.extent.messages = scaled(self.extent.messages, elapsed_ns);
        false
    }
}

fn scaled(messages: u64, elapsed_ns: u64) -> u64 {
    let scaled =
        (u128::from(messages) * u128::from(AIM_NS)).div_ceil(u128::from(elapsed_ns.max(1)));
    let most = messages.saturating_mul(GROWTH);
    u64::try_from(scaled).unwrap_or(u64::MAX).clamp(1, most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unknown(buffer_bytes: usize, messages: u64) -> Calibration {
        Calibration { given: None, extent: Extent::whole(buffer_bytes, messages), phases: 0 }
    }

    proptest! {
        #[test]
        fn a_steady_rate_is_found_within_a_few_phases(message_ns in 1_u64..10_000_000, start in 1_u64..16) {
            let mut calibration = unknown(64, start);
            let mut elapsed = calibration.extent.messages * message_ns;
            while !calibration.settles(elapsed) {
                elapsed = calibration.extent.messages * message_ns;
            }
            prop_assert!(elapsed >= LEAST_NS, "{elapsed}");
            prop_assert!(calibration.phases <= 6, "{}", calibration.phases);
        }
    }

    #[test]
    fn a_given_total_is_run_as_it_is() {
        let extent = Extent::of_total(64, 100);
        let mut calibration = Calibration { given: Some(extent), extent, phases: 0 };
        assert!(calibration.settles(1));
        assert_eq!(calibration.extent, extent);
    }

    #[test]
    fn a_clock_that_stands_still_ends_the_search() {
        let mut calibration = unknown(64, 1);
        let mut phases = 0;
        while !calibration.settles(0) {
            phases += 1;
        }
        assert_eq!(phases, MOST_PHASES);
    }
}
