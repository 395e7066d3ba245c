//! One peer of a run with several, as stored in a results file.

use ipcperf_model::{PeerMeasurement, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::identity::RunIdentity;

/// One of the peers of a run with more than two. The line follows the sample of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeerRecord {
    /// Number of the line, from 1 below the header.
    pub seq: Option<u64>,
    /// Name of the run.
    pub run_id: String,
    /// Name of the case.
    pub case_id: String,
    /// Role of the peer.
    pub role: Role,
    /// Number of the peer among those of its role, from 0.
    pub peer: u32,
    /// CPU to which the peer was pinned; null if the scheduler chose.
    pub cpu: Option<u32>,
    /// Time from just before the first byte of any peer was sent to just after its own last was received, ns.
    pub elapsed_ns: u64,
    /// Number of messages, or round trips, over its connections that arrived.
    pub messages: u64,
    /// These messages divided by that time, per second.
    pub messages_per_s: f64,
    /// CPU time, ns.
    pub cpu_ns: Option<u64>,
    /// Number of times it gave up its CPU to wait.
    pub voluntary_switches: u64,
    /// Number of times it was preempted.
    pub involuntary_switches: u64,
    /// Time that it was runnable but not running, ns.
    pub run_delay_ns: Option<u64>,
    /// Median one-way latency of the messages over its connection, ns, from the schedule. Null, like the three values below,
    /// without a rate, in round trips, and for a peer with several connections.
    pub one_way_ns_p50: Option<u64>,
    /// 90th percentile of it, ns.
    pub one_way_ns_p90: Option<u64>,
    /// 99th percentile of it, ns.
    pub one_way_ns_p99: Option<u64>,
    /// Longest one-way latency, ns.
    pub one_way_ns_max: Option<u64>,
    /// Median of the round trips that it began, ns, with a rate from the schedule; null, like the values below, if it began
    /// none.
    pub round_trip_ns_p50: Option<u64>,
    /// 90th percentile, ns.
    pub round_trip_ns_p90: Option<u64>,
    /// 99th percentile, ns.
    pub round_trip_ns_p99: Option<u64>,
    /// 99.9th percentile, ns.
    pub round_trip_ns_p999: Option<u64>,
    /// Longest round trip, ns.
    pub round_trip_ns_max: Option<u64>,
    /// Mean round trip, ns.
    pub round_trip_ns_mean: Option<f64>,
}

impl PeerRecord {
    /// Builds the record of a peer of `run`.
    #[must_use]
    pub fn new(run: &RunIdentity, measured: &PeerMeasurement) -> Self {
        let unpaced = measured.round_trips.as_ref().map(|trips| &trips.latencies);
        let of_schedule = measured.latencies.as_ref();
        let (one_way, trips) = match run.case.workload.is_answered() {
            true => (None, of_schedule.or(unpaced)),
            false => (of_schedule, None),
        };
        Self {
            seq: None,
            run_id: run.run_id.clone(),
            case_id: run.case.case_id.clone(),
            role: measured.usage.role,
            peer: measured.peer,
            cpu: measured.cpu,
            elapsed_ns: measured.elapsed_ns,
            messages: measured.messages,
            messages_per_s: messages_per_s(measured),
            cpu_ns: measured.usage.cpu_ns,
            voluntary_switches: measured.usage.voluntary_switches,
            involuntary_switches: measured.usage.involuntary_switches,
            run_delay_ns: measured.usage.run_delay_ns,
            one_way_ns_p50: one_way.and_then(|latencies| latencies.p50_ns),
            one_way_ns_p90: one_way.and_then(|latencies| latencies.p90_ns),
            one_way_ns_p99: one_way.and_then(|latencies| latencies.p99_ns),
            one_way_ns_max: one_way.map(|latencies| latencies.max_ns),
            round_trip_ns_p50: trips.and_then(|trips| trips.p50_ns),
            round_trip_ns_p90: trips.and_then(|trips| trips.p90_ns),
            round_trip_ns_p99: trips.and_then(|trips| trips.p99_ns),
            round_trip_ns_p999: trips.and_then(|trips| trips.p999_ns),
            round_trip_ns_max: trips.map(|trips| trips.max_ns),
            round_trip_ns_mean: trips.map(|trips| trips.mean_ns),
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "a rate, good to 53 bits")]
fn messages_per_s(measured: &PeerMeasurement) -> f64 {
    measured.messages as f64 * 1e9 / measured.elapsed_ns.max(1) as f64
}

/// Rates of the slowest and of the fastest of `peers`, messages per second, among those of the role that has more of them;
/// `None` if there are none.
pub(crate) fn rate_range(peers: &[PeerMeasurement]) -> Option<[f64; 2]> {
    let count = |role: Role| peers.iter().filter(|peer| peer.usage.role == role).count();
    let role =
        if count(Role::Receiver) > count(Role::Sender) { Role::Receiver } else { Role::Sender };
    let rates = peers.iter().filter(|peer| peer.usage.role == role).map(messages_per_s);
    let [low, high] =
        rates.fold([f64::INFINITY, 0.0], |[low, high], rate| [low.min(rate), high.max(rate)]);
    (low <= high).then_some([low, high])
}
