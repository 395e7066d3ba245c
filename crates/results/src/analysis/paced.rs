//! Figures of a paced case.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Spread, is_disturbed};
use crate::Sample;

/// Figures of a paced case over its valid runs, or, if it has none, over its disturbed ones. A figure that a run lacks, such
/// as a percentile of too few messages, is null.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PacedSummary {
    /// Whether every run was disturbed, so that no figure is reliable.
    pub only_disturbed: bool,
    /// Number of runs.
    pub runs: usize,
    /// Number of runs whose rate the mechanism could not carry.
    pub saturated_runs: usize,
    /// Rate of the messages that arrived, divided by the scheduled rate.
    pub carried_share: Option<Spread>,
    /// Median latency from the schedule (response time), one way or, with answers, there and back, ns.
    pub latency_ns_p50: Option<Spread>,
    /// 99th percentile of it, ns.
    pub latency_ns_p99: Option<Spread>,
    /// 99.9th percentile of it, ns.
    pub latency_ns_p999: Option<Spread>,
    /// Median latency from the send (service time), ns.
    pub from_send_ns_p50: Option<Spread>,
    /// 99th percentile of it, ns.
    pub from_send_ns_p99: Option<Spread>,
    /// 95th percentile of the delay of the sends that were on time, ns.
    pub pacer_error_ns_p95: Option<Spread>,
    /// Share of the messages that were due while the sender was waiting but did not run.
    pub gap_share: Option<Spread>,
    /// Share of the messages that were due while the sender was occupied with an earlier one.
    pub behind_share: Option<Spread>,
    /// Uncertainty of one-way latencies, ns.
    pub clock_uncertainty_ns: Option<Spread>,
    /// CPU time of a message, or round trip, without that of the pacer, ns.
    pub cpu_ns_per_message: Option<Spread>,
}

impl PacedSummary {
    /// Summarizes `samples`; `None` unless they are of a paced case and at least one is valid or disturbed.
    pub(super) fn new(samples: &[&Sample]) -> Option<Self> {
        samples.first()?.run.case.rate_per_s?;
        let valid: Vec<&Sample> =
            samples.iter().copied().filter(|sample| sample.excluded.is_none()).collect();
        let only_disturbed = valid.is_empty();
        let used = if only_disturbed {
            samples.iter().copied().filter(|sample| is_disturbed(sample)).collect()
        } else {
            valid
        };
        let spread = |figure: &dyn Fn(&Sample) -> Option<f64>| {
            let values: Option<Vec<f64>> = used.iter().map(|sample| figure(sample)).collect();
            values.and_then(|values| Spread::from_values(&values))
        };
        #[allow(clippy::cast_precision_loss, reason = "times, good to 53 bits")]
        let ns = |value: Option<u64>| value.map(|ns| ns as f64);
        (!used.is_empty()).then(|| Self {
            only_disturbed,
            runs: used.len(),
            saturated_runs: used.iter().filter(|one| one.paced.saturated == Some(true)).count(),
            carried_share: spread(&carried_share),
            latency_ns_p50: spread(&latency_ns_p50),
            latency_ns_p99: spread(&|one| ns(one.paced.one_way_ns_p99.or(one.round_trip_ns_p99))),
            latency_ns_p999: spread(&|one| {
                ns(one.paced.one_way_ns_p999.or(one.round_trip_ns_p999))
            }),
            from_send_ns_p50: spread(&|one| ns(one.paced.service_ns_p50())),
            from_send_ns_p99: spread(&|one| ns(one.paced.service_ns_p99())),
            pacer_error_ns_p95: spread(&|one| ns(one.paced.pacer_error_ns_p95)),
            gap_share: spread(&|one| one.paced.pacer_gap_share),
            behind_share: spread(&|one| one.paced.pacer_behind_share),
            clock_uncertainty_ns: spread(&|one| one.paced.clock_uncertainty_ns),
            cpu_ns_per_message: spread(&|one| one.cpu_ns_per_message),
        })
    }

    /// Whether the mechanism could not carry the rate in more than half of the runs.
    #[must_use]
    pub const fn is_saturated(&self) -> bool {
        2 * self.saturated_runs > self.runs
    }
}

/// Returns the median latency of a paced run from its schedule, ns.
#[allow(clippy::cast_precision_loss, reason = "a time, good to 53 bits")]
pub(super) fn latency_ns_p50(sample: &Sample) -> Option<f64> {
    sample.paced.one_way_ns_p50.or(sample.round_trip_ns_p50).map(|ns| ns as f64)
}

fn carried_share(sample: &Sample) -> Option<f64> {
    Some(sample.paced.achieved_per_s? / sample.paced.scheduled_per_s?)
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::ExclusionReason;
    use crate::testing::sample;

    fn paced(block: u32, p50_ns: u64, saturated: bool) -> Sample {
        let mut sample = sample("pipe", WorkloadKind::Paced, 64, block, 1_000_000);
        sample.run.case.rate_per_s = Some(1_000);
        let paced = &mut sample.paced;
        (paced.scheduled_per_s, paced.achieved_per_s) = (Some(1_000.0), Some(500.0));
        (paced.one_way_ns_p50, paced.saturated) = (Some(p50_ns), Some(saturated));
        sample
    }

    #[test]
    fn disturbed_runs_count_only_if_there_are_no_others() {
        let mut samples = [paced(1, 10, false), paced(2, 20, true), paced(3, 30, true)];
        samples[2].excluded = Some(ExclusionReason::Disturbed);
        let summary = |samples: &[Sample]| PacedSummary::new(&samples.iter().collect::<Vec<_>>());
        let valid = summary(&samples).unwrap();
        assert_eq!((valid.runs, valid.saturated_runs, valid.is_saturated()), (2, 1, false));
        assert_eq!((valid.only_disturbed, valid.latency_ns_p50.unwrap().median), (false, 15.0));
        assert_eq!((valid.carried_share.unwrap().median, valid.latency_ns_p99), (0.5, None));
        let disturbed = summary(&samples[2..]).unwrap();
        assert_eq!((disturbed.only_disturbed, disturbed.is_saturated()), (true, true));
        samples[2].excluded = Some(ExclusionReason::First);
        assert_eq!(summary(&samples[2..]), None);
        samples[0].run.case.rate_per_s = None;
        assert_eq!(summary(&samples), None);
    }
}
