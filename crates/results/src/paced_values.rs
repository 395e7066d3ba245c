//! Values that only samples of paced runs have.

use ipcperf_model::pacing::{Pacer, Pacing};
use ipcperf_model::{Latencies, PacedMeasurement, SendDelays};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Values of a paced run; all are absent in other runs. A percentile with fewer than ten messages beyond it is null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PacedValues {
    /// Scheduled rate as drawn, messages per second: that of random arrivals differs from the requested rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduled_per_s: Option<f64>,
    /// Rate of the messages that arrived, per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub achieved_per_s: Option<f64>,
    /// Whether the mechanism could not carry the rate: fewer than 99 % of the scheduled messages arrived in time, or the
    /// backlog grew until the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturated: Option<bool>,
    /// Number of messages that were due but had not arrived when the last message was due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog_messages: Option<u64>,
    /// Share of the messages that were due while the sender was waiting for them but did not run: because of an
    /// interrupt, another program or the host. Null if the sender slept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacer_gap_share: Option<f64>,
    /// Median delay of the sends of these messages, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacer_gap_ns_p50: Option<u64>,
    /// Longest delay of the sends of these messages, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacer_gap_ns_max: Option<u64>,
    /// Share of the messages that were due while the sender was occupied with an earlier one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacer_behind_share: Option<f64>,
    /// Median delay of the sends of these messages, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacer_behind_ns_p50: Option<u64>,
    /// Longest delay of the sends of these messages, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacer_behind_ns_max: Option<u64>,
    /// 95th percentile of the delay of the sends that were on time, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacer_error_ns_p95: Option<u64>,
    /// 99th percentile of the delay of the sends that were on time, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacer_error_ns_p99: Option<u64>,
    /// 99.9th percentile of the delay of the sends that were on time, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacer_error_ns_p999: Option<u64>,
    /// CPU time that the sender spent waiting for its schedule, ns. It is part of `ROLE_cpu_ns`, but not of
    /// `cpu_ns_per_message`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacer_cpu_ns: Option<u64>,
    /// Uncertainty of one-way latencies, ns: half the width of the bound on the difference between the clocks of the two
    /// CPUs. Null on one CPU, and if the scheduler chose the CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_uncertainty_ns: Option<f64>,
    /// Median one-way latency from the schedule (response time), ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_way_ns_p50: Option<u64>,
    /// 90th percentile of it, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_way_ns_p90: Option<u64>,
    /// 99th percentile of it, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_way_ns_p99: Option<u64>,
    /// 99.9th percentile of it, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_way_ns_p999: Option<u64>,
    /// Longest one-way latency from the schedule, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_way_ns_max: Option<u64>,
    /// Mean one-way latency from the schedule, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_way_ns_mean: Option<f64>,
    /// HDR histogram of the one-way latencies from the schedule, ns, V2 encoding, base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_way_histogram: Option<String>,
    /// 99th percentile of the latencies from the schedule, ns, without the messages that were due while the sender was
    /// waiting but did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside_gaps_ns_p99: Option<u64>,
    /// HDR histogram of these latencies, ns, V2 encoding, base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside_gaps_histogram: Option<String>,
    /// Median one-way latency from the send (service time), ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_way_from_send_ns_p50: Option<u64>,
    /// 90th percentile of it, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_way_from_send_ns_p90: Option<u64>,
    /// 99th percentile of it, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_way_from_send_ns_p99: Option<u64>,
    /// 99.9th percentile of it, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_way_from_send_ns_p999: Option<u64>,
    /// Longest one-way latency from the send, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_way_from_send_ns_max: Option<u64>,
    /// HDR histogram of the one-way latencies from the send, ns, V2 encoding, base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_way_from_send_histogram: Option<String>,
    /// Median round trip from the send (service time), ns. The other `round_trip_ns` keys of a paced run count from the
    /// schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip_from_send_ns_p50: Option<u64>,
    /// 90th percentile of it, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip_from_send_ns_p90: Option<u64>,
    /// 99th percentile of it, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip_from_send_ns_p99: Option<u64>,
    /// 99.9th percentile of it, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip_from_send_ns_p999: Option<u64>,
    /// Longest round trip from the send, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip_from_send_ns_max: Option<u64>,
    /// HDR histogram of the round trips from the send, ns, V2 encoding, base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip_from_send_histogram: Option<String>,
}

/// Messages of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Traffic {
    /// Nothing is transferred, so only the pacer is measured.
    None,
    /// Messages go one way.
    OneWay,
    /// Each message is answered, and latencies are round trips.
    Answered,
}

impl PacedValues {
    /// Builds the values of a run of `pacing`.
    ///
    /// `connections`: number of receivers of the messages of one sender, or of senders.
    pub(crate) fn new(
        (pacing, connections): (&Pacing, u64),
        measured: PacedMeasurement,
        traffic: Traffic,
    ) -> Self {
        let pacer = &measured.pacer;
        let share = |delays: &SendDelays| share(delays.messages, pacer.sent_messages);
        let spins = pacing.pacer == Pacer::Spin;
        let values = Self {
            scheduled_per_s: Some(measured.scheduled_per_s),
            pacer_gap_share: spins.then(|| share(&pacer.in_gap)).flatten(),
            pacer_gap_ns_p50: pacer.in_gap.p50_ns,
            pacer_gap_ns_max: pacer.in_gap.max_ns,
            pacer_behind_share: share(&pacer.behind),
            pacer_behind_ns_p50: pacer.behind.p50_ns,
            pacer_behind_ns_max: pacer.behind.max_ns,
            pacer_error_ns_p95: pacer.on_time.p95_ns,
            pacer_error_ns_p99: pacer.on_time.p99_ns,
            pacer_error_ns_p999: pacer.on_time.p999_ns,
            pacer_cpu_ns: Some(pacer.cpu_ns),
            ..Self::default()
        };
        if traffic == Traffic::None {
            return values;
        }
        let values = Self {
            achieved_per_s: Some(measured.achieved_per_s),
            saturated: Some(measured.is_saturated(pacing.messages * connections)),
            backlog_messages: measured.backlogs.last().copied(),
            clock_uncertainty_ns: measured.clock_uncertainty_ns,
            outside_gaps_ns_p99: measured.outside_gaps.p99_ns,
            outside_gaps_histogram: Some(measured.outside_gaps.histogram),
            ..values
        };
        let PacedMeasurement { from_schedule, from_send, .. } = measured;
        match traffic {
            Traffic::Answered => values.with_round_trips(from_send),
            Traffic::OneWay | Traffic::None => values.with_one_way(from_schedule, from_send),
        }
    }

    fn with_round_trips(self, from_send: Latencies) -> Self {
        Self {
            round_trip_from_send_ns_p50: from_send.p50_ns,
            round_trip_from_send_ns_p90: from_send.p90_ns,
            round_trip_from_send_ns_p99: from_send.p99_ns,
            round_trip_from_send_ns_p999: from_send.p999_ns,
            round_trip_from_send_ns_max: Some(from_send.max_ns),
            round_trip_from_send_histogram: Some(from_send.histogram),
            ..self
        }
    }

    fn with_one_way(self, from_schedule: Latencies, from_send: Latencies) -> Self {
        Self {
            one_way_ns_p50: from_schedule.p50_ns,
            one_way_ns_p90: from_schedule.p90_ns,
            one_way_ns_p99: from_schedule.p99_ns,
            one_way_ns_p999: from_schedule.p999_ns,
            one_way_ns_max: Some(from_schedule.max_ns),
            one_way_ns_mean: Some(from_schedule.mean_ns),
            one_way_histogram: Some(from_schedule.histogram),
            one_way_from_send_ns_p50: from_send.p50_ns,
            one_way_from_send_ns_p90: from_send.p90_ns,
            one_way_from_send_ns_p99: from_send.p99_ns,
            one_way_from_send_ns_p999: from_send.p999_ns,
            one_way_from_send_ns_max: Some(from_send.max_ns),
            one_way_from_send_histogram: Some(from_send.histogram),
            ..self
        }
    }

    /// Returns the median from the send, of round trips or of one-way latencies, ns.
    #[must_use]
    pub fn service_ns_p50(&self) -> Option<u64> {
        self.one_way_from_send_ns_p50.or(self.round_trip_from_send_ns_p50)
    }

    /// Returns the 99th percentile from the send, of round trips or of one-way latencies, ns.
    #[must_use]
    pub fn service_ns_p99(&self) -> Option<u64> {
        self.one_way_from_send_ns_p99.or(self.round_trip_from_send_ns_p99)
    }
}

#[allow(clippy::cast_precision_loss, reason = "a share of counts")]
fn share(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unpaced_sample_has_none_of_these_keys() {
        assert_eq!(serde_json::to_string(&PacedValues::default()).unwrap(), "{}");
    }
}
