//! Chooses how much data to move when no total was given: enough for a run of at least 16 ms, after the warm-up.
//!
//! Short phases between the same peers measure the rate. Then come the requested warm-up and the phase that counts,
//! which is repeated with more messages if it is too short. Each peer computes the same decision from the same elapsed
//! time, so the peers need not exchange it.

use ipcperf_model::{RunSpec, WarmUp};

use crate::workload::{PhaseSize, phase_size};

/// Minimum duration of a run, ns.
pub const MIN_RUN_NS: u64 = 16_000_000;
/// Target duration of a run, ns; above the minimum so that a faster stretch does not fall below it.
const TARGET_NS: u64 = 21_000_000;
/// Minimum durations of a run for each of several connections: peers that share a CPU run in turns of some milliseconds, and
/// each needs many turns before their rates show how fairly they share it.
const TURNS: u64 = 4;
/// Maximum factor by which several connections make a run longer.
const MAX_STRETCH: u64 = 32;
/// Target duration of one slice of a run that looks for its warm-up, ns.
const SLICE_NS: u64 = 800_000;
/// Duration of a phase that measures the rate well enough to size the next one, ns.
const RATE_PHASE_NS: u64 = 1_000_000;
/// Bytes of the first phase, and its maximum number of messages.
const FIRST_BYTES: usize = 1 << 20;
const FIRST_MESSAGES: usize = 16;
/// Maximum growth from one phase to the next; the first phases measure the rate poorly.
const MAX_GROWTH: u64 = 64;
/// Maximum number of phases; the last one counts, however short.
const MAX_PHASES: u32 = 12;

/// Purpose of the current phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Measures the rate.
    RateEstimation,
    /// One of the slices; the value is the number of slices left, including this one.
    Slice(u32),
    /// Warms up.
    WarmUp,
    /// Counts, if it is long enough.
    Measurement,
}

/// Whether the total is known beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Total {
    Given,
    Calibrated,
}

/// State of the search; each peer keeps an identical copy.
#[derive(Clone, Debug)]
pub(crate) struct Calibration {
    stage: Stage,
    warm_up: WarmUp,
    total: Total,
    /// Factor by which the run is longer than that of two peers.
    stretch: u64,
    pub(crate) size: PhaseSize,
    /// Number of phases so far; the slices together count as one.
    pub(crate) phases: u32,
    pub(crate) slices_ns: Vec<u64>,
}

impl Calibration {
    /// Starts from the given total, or from a few messages.
    pub(crate) fn from_spec(spec: &RunSpec) -> Self {
        let length = |bytes: u64| usize::try_from(bytes.max(1)).unwrap_or(usize::MAX);
        let (buffer_bytes, largest_bytes) =
            (length(spec.buffer_bytes), length(spec.largest_bytes()));
        let given = spec.total_bytes.map(|total| phase_size(spec, total.max(1)));
        let messages = (FIRST_BYTES / largest_bytes).clamp(1, FIRST_MESSAGES) as u64;
        let paced = spec.pacing.map(|pacing| PhaseSize::new(buffer_bytes, pacing.messages.max(1)));
        let calibration = match paced.or(given) {
            Some(size) => Self::new(size, Total::Given, spec.warm_up),
            None => {
                Self::new(PhaseSize::new(buffer_bytes, messages), Total::Calibrated, spec.warm_up)
            }
        };
        Self { stretch: run_stretch(spec), ..calibration }
    }

    fn new(size: PhaseSize, total: Total, warm_up: WarmUp) -> Self {
        let stage = match total {
            Total::Given => Stage::Measurement,
            Total::Calibrated => Stage::RateEstimation,
        };
        Self { stage, warm_up, total, stretch: 1, size, phases: 0, slices_ns: Vec::new() }
    }

    /// Returns whether the phase that took `elapsed_ns` counts; if not, `size` is set for the next phase.
    pub(crate) fn record_phase(&mut self, elapsed_ns: u64) -> bool {
        match self.stage {
            Stage::Measurement => {
                if self.total == Total::Given
                    || elapsed_ns >= MIN_RUN_NS * self.stretch
                    || self.phases >= MAX_PHASES
                {
                    return true;
                }
            }
            Stage::Slice(left) => {
                self.slices_ns.push(elapsed_ns);
                if left > 1 {
                    self.stage = Stage::Slice(left - 1);
                    return false;
                }
                self.stage = Stage::Measurement;
            }
            Stage::WarmUp => self.stage = Stage::Measurement,
            Stage::RateEstimation if elapsed_ns >= RATE_PHASE_NS || self.phases >= MAX_PHASES => {
                self.stage = after_rate_estimation(self.warm_up);
            }
            Stage::RateEstimation => {}
        }
        self.phases += 1;
        self.size.messages = scaled(self.size.messages, elapsed_ns, self.target_ns());
        false
    }

    /// Target duration of the next phase, ns.
    fn target_ns(&self) -> u64 {
        match (self.stage, self.warm_up) {
            (Stage::RateEstimation, _) => 2 * RATE_PHASE_NS,
            (Stage::Slice(_), _) => SLICE_NS,
            (Stage::WarmUp, WarmUp::ForNs(ns)) => ns,
            (Stage::WarmUp | Stage::Measurement, _) => TARGET_NS * self.stretch,
        }
    }
}

/// Factor by which a calibrated run of `spec` is longer than that of two peers.
#[must_use]
pub fn run_stretch(spec: &RunSpec) -> u64 {
    match spec.connections() as u64 {
        1 => 1,
        several => (TURNS * several).min(MAX_STRETCH),
    }
}

const fn after_rate_estimation(warm_up: WarmUp) -> Stage {
    match warm_up {
        WarmUp::None | WarmUp::ForNs(0) | WarmUp::Slices(0) => Stage::Measurement,
        WarmUp::ForNs(_) => Stage::WarmUp,
        WarmUp::Slices(slices) => Stage::Slice(slices),
    }
}

fn scaled(messages: u64, elapsed_ns: u64, aim_ns: u64) -> u64 {
    let scaled =
        (u128::from(messages) * u128::from(aim_ns)).div_ceil(u128::from(elapsed_ns.max(1)));
    let max_messages = messages.saturating_mul(MAX_GROWTH);
    u64::try_from(scaled).unwrap_or(u64::MAX).clamp(1, max_messages)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unknown(messages: u64, warm_up: WarmUp) -> Calibration {
        Calibration::new(PhaseSize::new(64, messages), Total::Calibrated, warm_up)
    }

    /// Lengths of all phases, with messages of `message_ns` each.
    fn phases(mut calibration: Calibration, message_ns: u64) -> (Calibration, Vec<u64>) {
        let mut phases_ns = vec![calibration.size.messages * message_ns];
        while !calibration.record_phase(*phases_ns.last().unwrap()) {
            phases_ns.push(calibration.size.messages * message_ns);
        }
        (calibration, phases_ns)
    }

    proptest! {
        #[test]
        fn a_steady_rate_is_found_within_a_few_phases(message_ns in 1_u64..10_000_000, start in 1_u64..16) {
            let (calibration, phases_ns) = phases(unknown(start, WarmUp::None), message_ns);
            prop_assert!(*phases_ns.last().unwrap() >= MIN_RUN_NS, "{phases_ns:?}");
            prop_assert!(calibration.phases <= 7, "{}", calibration.phases);
        }

        #[test]
        fn a_warm_up_comes_before_what_counts(message_ns in 1_u64..100_000, warm_up_ns in 1_000_000_u64..50_000_000) {
            let (_, phases_ns) = phases(unknown(16, WarmUp::ForNs(warm_up_ns)), message_ns);
            let (counted, before) = phases_ns.split_last().unwrap();
            prop_assert!(*counted >= MIN_RUN_NS);
            let warm_up = before.last().unwrap();
            prop_assert!(*warm_up >= warm_up_ns && *warm_up < warm_up_ns + 2 * message_ns, "{phases_ns:?}");
        }

        #[test]
        fn slices_are_equal_and_as_many_as_asked(message_ns in 1_u64..100_000, slices in 1_u32..20) {
            let (calibration, phases_ns) = phases(unknown(16, WarmUp::Slices(slices)), message_ns);
            prop_assert_eq!(calibration.slices_ns.len(), slices as usize);
            prop_assert!(calibration.slices_ns.iter().all(|&ns| ns == calibration.slices_ns[0]));
            prop_assert!(calibration.slices_ns[0] >= SLICE_NS);
            prop_assert!(*phases_ns.last().unwrap() >= MIN_RUN_NS);
        }
    }

    #[test]
    fn a_given_total_is_run_as_it_is() {
        let size = PhaseSize::from_total(64, 100);
        let mut calibration = Calibration::new(size, Total::Given, WarmUp::Slices(8));
        assert!(calibration.record_phase(1));
        assert_eq!(calibration.size, size);
    }

    #[test]
    fn a_clock_that_stands_still_ends_the_search() {
        for warm_up in [WarmUp::None, WarmUp::ForNs(1_000), WarmUp::Slices(3)] {
            let mut calibration = unknown(1, warm_up);
            let mut phases = 0;
            while !calibration.record_phase(0) {
                phases += 1;
                assert!(phases <= MAX_PHASES + 5, "{warm_up:?}");
            }
        }
    }
}
