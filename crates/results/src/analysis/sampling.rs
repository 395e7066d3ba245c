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
    /// Payload of one run with which as many runs give enough samples at the same rate, bytes, a power of two; `None`
    /// if there are enough, or if it does not fit into 64 bits.
    pub suggested_total_bytes: Option<u64>,
}

impl ProfileSampling {
    /// Number of samples below which shares are uncertain: with 500, the 95 % interval of a share of 50 % is ±4.4 %.
    pub const ENOUGH: u64 = 500;

    /// Whether there are too few samples for shares to be precise.
    #[must_use]
    pub const fn is_sparse(&self) -> bool {
        self.samples < Self::ENOUGH
    }

    /// Counts the samples in `observations`, which were made in `runs`; `None` if they contain no profile.
    #[must_use]
    pub fn from_observations(observations: &[Observation], runs: &[&Sample]) -> Option<Self> {
        let counts = observations.iter().filter_map(|one| match one.row() {
            Some(ProfileRow::Summary(summary)) => Some(summary.samples),
            _ => None,
        });
        let samples = counts.reduce(u64::saturating_add)?;
        let bytes = runs.iter().map(|run| u128::from(run.total_bytes)).sum();
        let suggested_total_bytes = suggest_total(samples, bytes, runs.len());
        Some(Self { samples, runs: runs.len(), suggested_total_bytes })
    }
}

/// Returns the payload of each of `runs` that gives enough samples, where `bytes` in all gave `samples`.
fn suggest_total(samples: u64, bytes: u128, runs: usize) -> Option<u64> {
    if samples >= ProfileSampling::ENOUGH || runs == 0 {
        return None;
    }
    // Without any sample the rate is unknown; it is at most that of a single one.
    let each = (u128::from(samples.max(1)) * u128::try_from(runs).ok()?).max(1);
    let wanted = bytes.checked_mul(ProfileSampling::ENOUGH.into())?.div_ceil(each);
    u64::try_from(wanted).ok()?.checked_next_power_of_two()
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::testing::sample;

    #[test]
    fn the_suggested_total_follows_from_the_rate_of_samples() {
        // 40 samples in 2 runs of 1,000,000 bytes: 500 samples take 12.5 times as much.
        assert_eq!(suggest_total(40, 2_000_000, 2), Some(1 << 24));
        assert_eq!(suggest_total(0, 1_000, 1), Some(1 << 19));
        assert_eq!(suggest_total(ProfileSampling::ENOUGH, 1_000, 1), None);
        assert_eq!(suggest_total(1, u128::from(u64::MAX), 1), None);
    }

    #[test]
    fn observations_without_a_profile_have_no_samples() {
        let run = sample("pipe", WorkloadKind::Stream, 64, 1, 1_000_000);
        assert_eq!(ProfileSampling::from_observations(&[], &[&run]), None);
    }
}
