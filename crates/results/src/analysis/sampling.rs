//! Number of samples that the shares of a profile rest on, and the amount of payload that gives enough of them.

use ipcperf_model::instrument::profile::ProfileRow;
use ipcperf_model::observation::Observation;

use crate::Sample;

/// Samples of the profile of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileSampling {
    /// Number of samples of all roles.
    pub samples: u64,
    /// Number of runs that they were taken in.
    pub runs: usize,
    /// Run that would give enough samples; `None` if there are enough, or if it would take too long.
    pub suggestion: Option<SuggestedRun>,
}

/// Run with which as many runs give enough samples at the same rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuggestedRun {
    /// Payload, bytes, a power of two.
    pub total_bytes: u64,
    /// Timeout that the run needs, s; `None` if that of the file suffices.
    pub timeout_s: Option<u32>,
}

/// Maximum estimated duration of a suggested run, s.
const MAX_RUN_S: u64 = 3_600;
/// Ratio of the timeout to the estimated duration of a run, because runs differ.
const TIMEOUT_RESERVE: u128 = 2;
const NS_PER_S: u128 = 1_000_000_000;

/// Runs that gave samples: their number, and the sums of their payload and of their time.
#[derive(Clone, Copy, Debug)]
struct SampledRuns {
    runs: usize,
    bytes: u128,
    elapsed_ns: u128,
}

impl ProfileSampling {
    /// Number of samples below which shares are uncertain: with 500, the 95 % interval of a share of 50 % is ±4.4 %.
    pub const ENOUGH: u64 = 500;

    /// Whether there are too few samples for shares to be precise.
    #[must_use]
    pub const fn is_sparse(&self) -> bool {
        self.samples < Self::ENOUGH
    }

    /// Counts the samples in `observations`, which were made in `runs` with this timeout; `None` if they contain no
    /// profile.
    #[must_use]
    pub fn from_observations(
        observations: &[Observation],
        runs: &[&Sample],
        timeout_s: f64,
    ) -> Option<Self> {
        let counts = observations.iter().filter_map(|one| match one.row() {
            Some(ProfileRow::Summary(summary)) => Some(summary.samples),
            _ => None,
        });
        let samples = counts.reduce(u64::saturating_add)?;
        let suggestion = SampledRuns::new(runs).suggest(samples, timeout_s);
        Some(Self { samples, runs: runs.len(), suggestion })
    }
}

impl SampledRuns {
    fn new(runs: &[&Sample]) -> Self {
        Self {
            runs: runs.len(),
            bytes: runs.iter().map(|run| u128::from(run.total_bytes)).sum(),
            elapsed_ns: runs.iter().map(|run| u128::from(run.elapsed_ns)).sum(),
        }
    }

    /// Returns the run that gives enough samples, where these gave `samples` with this timeout.
    fn suggest(self, samples: u64, timeout_s: f64) -> Option<SuggestedRun> {
        let total_bytes = self.suggest_total(samples)?;
        let run_ns = self.elapsed_ns.checked_mul(total_bytes.into())? / self.bytes.max(1);
        if run_ns > u128::from(MAX_RUN_S) * NS_PER_S {
            return None;
        }
        let needed_s = u32::try_from((run_ns * TIMEOUT_RESERVE).div_ceil(NS_PER_S)).ok()?;
        let is_too_short = timeout_s < f64::from(needed_s);
        Some(SuggestedRun { total_bytes, timeout_s: is_too_short.then_some(needed_s) })
    }

    /// Returns the payload of each run that gives enough samples, where these gave `samples`.
    fn suggest_total(self, samples: u64) -> Option<u64> {
        if samples >= ProfileSampling::ENOUGH || self.runs == 0 {
            return None;
        }
        // Without any sample the rate is unknown; it is at most that of a single one.
        let each = (u128::from(samples.max(1)) * u128::try_from(self.runs).ok()?).max(1);
        let wanted = self.bytes.checked_mul(ProfileSampling::ENOUGH.into())?.div_ceil(each);
        u64::try_from(wanted).ok()?.checked_next_power_of_two()
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::testing::sample;

    const TIMEOUT_S: f64 = 10.0;

    #[test]
    fn the_suggested_total_follows_from_the_rate_of_samples() {
        let suggest = |samples, bytes, runs| {
            SampledRuns { runs, bytes, elapsed_ns: 1_000 }.suggest_total(samples)
        };
        // 40 samples in 2 runs of 1,000,000 bytes: 500 samples take 12.5 times as much.
        assert_eq!(suggest(40, 2_000_000, 2), Some(1 << 24));
        assert_eq!(suggest(0, 1_000, 1), Some(1 << 19));
        assert_eq!(suggest(ProfileSampling::ENOUGH, 1_000, 1), None);
        assert_eq!(suggest(1, u128::from(u64::MAX), 1), None);
    }

    /// A run of 1 MiB that took a second and gave 40 samples: 16 MiB take 16 s.
    #[test]
    fn a_run_that_would_exceed_the_timeout_is_suggested_with_another() {
        let runs = SampledRuns { runs: 1, bytes: 1 << 20, elapsed_ns: NS_PER_S };
        let suggested = |timeout_s| SuggestedRun { total_bytes: 1 << 24, timeout_s };
        assert_eq!(runs.suggest(40, TIMEOUT_S), Some(suggested(Some(32))));
        assert_eq!(runs.suggest(40, 32.0), Some(suggested(None)));
        let slow = SampledRuns { elapsed_ns: 1_000 * NS_PER_S, ..runs };
        assert_eq!(slow.suggest(40, TIMEOUT_S), None);
    }

    #[test]
    fn observations_without_a_profile_have_no_samples() {
        let run = sample("pipe", WorkloadKind::Stream, 64, 1, 1_000_000);
        assert_eq!(ProfileSampling::from_observations(&[], &[&run], TIMEOUT_S), None);
    }
}
