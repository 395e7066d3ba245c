//! Detects multiple modes, over the repetitions of a case and among all of its single round trips.

use ipcperf_model::round_trip_histogram::pool;
use ipcperf_stats::modes;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Sample;

/// One of several modes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DistributionMode {
    /// Share of the repetitions, or of the round trips, in this mode.
    pub share: f64,
    /// Median of this mode.
    pub median: f64,
}

/// Returns the modes of a figure over repetitions; empty if there is only one.
pub(super) fn of_repetitions(figures: &[f64]) -> Vec<DistributionMode> {
    let weighted: Vec<(f64, u64)> = figures.iter().map(|&figure| (figure, 1)).collect();
    multiple_modes(&weighted)
}

/// Returns the modes of the single round trips of `samples`, in ns; empty if there is only one, or if a sample has
/// no readable histogram.
#[allow(clippy::cast_precision_loss, reason = "ns of a round trip, kept to three digits")]
pub(super) fn of_trips(samples: &[&Sample]) -> Vec<DistributionMode> {
    let texts = samples.iter().map(|sample| sample.round_trip_histogram.as_deref());
    let pooled = texts.collect::<Option<Vec<&str>>>().and_then(|texts| pool(texts).ok());
    let trips = pooled.unwrap_or_default();
    let weighted: Vec<(f64, u64)> = trips.iter().map(|&(ns, count)| (ns as f64, count)).collect();
    multiple_modes(&weighted)
}

fn multiple_modes(weighted: &[(f64, u64)]) -> Vec<DistributionMode> {
    let found = modes(weighted);
    if found.len() < 2 {
        return Vec::new();
    }
    found.iter().map(|mode| DistributionMode { share: mode.share, median: mode.median }).collect()
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::testing::{round_trips, sample};

    #[test]
    fn repetitions_in_two_modes_are_told_with_their_shares() {
        let figures: Vec<f64> = (0..40)
            .map(|k| if k % 4 == 0 { 5.8e9 } else { 1.3e9 } * (1.0 + 0.002 * f64::from(k % 5)))
            .collect();
        let modes = of_repetitions(&figures);
        let shares: Vec<f64> = modes.iter().map(|mode| mode.share).collect();
        assert_eq!(shares, [0.75, 0.25]);
        assert!(of_repetitions(&figures[1..4]).is_empty());
    }

    #[test]
    fn trips_of_all_samples_are_looked_at_together() {
        let fast = (0..10_000_u64).map(|k| 800 + k % 50);
        let slow = (0..2_500_u64).map(|k| 28_000 + k % 900);
        let trips: Vec<u64> = fast.chain(slow).collect();
        let mut one = sample("pipe", WorkloadKind::RoundTrip, 64, 1, 1_000_000);
        one.round_trip_histogram = Some(round_trips(&trips).latencies.histogram);
        let modes = of_trips(&[&one, &one]);
        assert_eq!(modes.len(), 2, "{modes:?}");
        assert!((modes[0].share - 0.8).abs() < 0.01 && modes[1].median > 20_000.0, "{modes:?}");
        one.round_trip_histogram = None;
        assert!(of_trips(&[&one]).is_empty());
    }
}
