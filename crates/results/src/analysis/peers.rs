//! Figures of a case with several peers.

use schemars::JsonSchema;
use serde::Serialize;

use super::Spread;
use crate::Sample;

/// Figures of a case with several peers over its valid runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PeersSummary {
    /// Messages, or round trips, of all peers per second.
    pub total_per_s: Spread,
    /// Messages, or round trips, per second of the slowest peer.
    pub slowest_per_s: Spread,
    /// Messages, or round trips, per second of the fastest peer.
    pub fastest_per_s: Spread,
    /// Rate of the slowest peer divided by that of the fastest.
    pub fairness: Spread,
}

impl PeersSummary {
    /// Summarizes the valid `samples`; `None` unless all are of runs with several peers.
    pub(super) fn new(samples: &[&Sample]) -> Option<Self> {
        let spread = |figure: fn(&Sample) -> Option<f64>| {
            let values: Option<Vec<f64>> = samples.iter().map(|sample| figure(sample)).collect();
            values.and_then(|values| Spread::from_values(&values))
        };
        Some(Self {
            slowest_per_s: spread(|sample| sample.slowest_peer_per_s)?,
            fastest_per_s: spread(|sample| sample.fastest_peer_per_s)?,
            fairness: spread(|sample| sample.fairness)?,
            total_per_s: spread(total_per_s)?,
        })
    }
}

#[allow(clippy::cast_precision_loss, reason = "a rate, good to 53 bits")]
fn total_per_s(sample: &Sample) -> Option<f64> {
    Some(sample.messages as f64 * 1e9 / sample.elapsed_ns.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::testing::sample;

    #[test]
    fn a_case_with_peers_has_medians_of_their_rates() {
        let run = |block: u32| {
            let mut sample = sample("pipe", WorkloadKind::FanIn, 64, block, 1_000_000);
            sample.slowest_peer_per_s = Some(100.0 * f64::from(block));
            sample.fastest_peer_per_s = Some(200.0 * f64::from(block));
            sample.fairness = Some(0.5);
            sample
        };
        let runs = [run(1), run(2), run(3)];
        let peers = PeersSummary::new(&runs.each_ref()).unwrap();
        assert_eq!((peers.slowest_per_s.median, peers.fastest_per_s.median), (200.0, 400.0));
        assert_eq!((peers.fairness.median, peers.total_per_s.median), (0.5, 1e6));
        assert_eq!(PeersSummary::new(&[&sample("pipe", WorkloadKind::Stream, 64, 1, 1)]), None);
    }
}
