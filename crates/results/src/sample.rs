//! Measurements of one run, as stored in a results file.

use std::borrow::Cow;
use std::fmt::Formatter;

use ipcperf_model::{Measurement, Role, RoleUsage, RoundTrips, UserSystemSplit, WarmUp};
use schemars::JsonSchema;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::intrusive::is_any_intrusive;
use super::paced_values::{PacedValues, Traffic};
use super::peer_record::rate_range;
use super::roles::RoleValues;
use crate::identity::{CaseIdentity, RunIdentity};

/// Reason why a sample is stored but excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExclusionReason {
    /// The run belongs to the first block, which is always excluded.
    First,
    /// The run was disturbed by other activity on the machine.
    Disturbed,
    /// The distance between the two CPUs changed during the run: the cache-line probes before and after the run disagree.
    CpuDistanceChanged,
}

impl ExclusionReason {
    /// Whether the run was disturbed. The first block is excluded in any case, which is not a disturbance.
    pub const fn is_disturbance(self) -> bool {
        match self {
            Self::First => false,
            Self::Disturbed | Self::CpuDistanceChanged => true,
        }
    }

    /// Returns the words for a single run.
    #[must_use]
    pub const fn describe_run(self) -> &'static str {
        match self {
            Self::First => "the first block",
            Self::Disturbed => "disturbed",
            Self::CpuDistanceChanged => "CPU distance changed",
        }
    }

    /// Returns the words for several runs.
    pub const fn describe_runs(self) -> &'static str {
        match self {
            Self::First => "of the first block",
            Self::Disturbed => "disturbed by other activity",
            Self::CpuDistanceChanged => "whose CPU distance changed",
        }
    }
}

/// Measurements of one run. Each role of the run adds keys of its own, such as `sender_user_ns`. A value that does
/// not apply or could not be determined is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("patternProperties" = {
    "^(sender|receiver|broker|both)_": { "type": ["integer", "null"], "minimum": 0 }
}))]
pub struct Sample {
    /// Number of the line, from 1 below the header; absent in files of versions that did not number lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Identity of the run and of its case.
    #[serde(flatten)]
    pub run: RunIdentity,
    /// Reason why the sample is excluded; null if it is valid.
    pub excluded: Option<ExclusionReason>,
    /// CPU distance class of the two CPUs.
    pub cpu_pair_class: Option<String>,
    /// Payload in one direction, bytes.
    pub total_bytes: u64,
    /// Kernel buffer size granted between the peers, bytes.
    pub kernel_buffer_granted_bytes: Option<u64>,
    /// Instruments that observed the run.
    pub instruments: Vec<String>,
    /// Name of the instrumented case of which this one is the uninstrumented twin; otherwise null.
    pub twin_of: Option<String>,
    /// Time just before the first byte was sent, ns on `CLOCK_MONOTONIC`, which starts at boot.
    pub began_ns: Option<u64>,
    /// Time from just before the first byte was sent to just after the last was received, ns.
    pub elapsed_ns: u64,
    /// Payload that arrived divided by the elapsed time, bytes per second. Null for round trips, in paced runs and if
    /// nothing is transferred.
    pub bandwidth_bytes_per_s: Option<u64>,
    /// Number of messages, or round trips, that arrived.
    pub messages: u64,
    /// Number of messages that did not arrive; null unless the mechanism may lose messages.
    pub lost_messages: Option<u64>,
    /// Number of sends that accepted fewer bytes than requested.
    pub short_writes: u64,
    /// Number of receives that returned fewer bytes than requested.
    pub short_reads: u64,
    /// Number of short phases before this one that found the total.
    pub calibration_phases: u32,
    /// Duration of the warm-up after those phases, ns.
    pub warm_up_ns: Option<u64>,
    /// Duration of each slice from which the length of the warm-up was derived, ns; all slices move the same
    /// amount.
    pub warm_up_slices_ns: Option<Vec<u64>>,
    /// CPU time of the kernel threads that work for the mechanism, ns.
    pub kernel_thread_ns: Option<u64>,
    /// CPU time divided by the number of messages, or round trips, that arrived, ns: that of all roles, and of the kernel
    /// threads that work for the mechanism. Null if the CPU time of a role is unknown. Absent in files of older versions.
    #[serde(default)]
    pub cpu_ns_per_message: Option<f64>,
    /// Median round trip, ns.
    pub round_trip_ns_p50: Option<u64>,
    /// 90th percentile of the round trips, ns.
    pub round_trip_ns_p90: Option<u64>,
    /// 99th percentile of the round trips, ns.
    pub round_trip_ns_p99: Option<u64>,
    /// 99.9th percentile of the round trips, ns.
    pub round_trip_ns_p999: Option<u64>,
    /// Longest round trip, ns.
    pub round_trip_ns_max: Option<u64>,
    /// Mean round trip, ns: elapsed time divided by the number of trips.
    pub round_trip_ns_mean: Option<f64>,
    /// Sampling interval of the distribution: one in this many trips was timed individually.
    pub round_trip_timed_every: Option<u64>,
    /// HDR histogram of the timed trips, ns, V2 encoding, base64.
    pub round_trip_histogram: Option<String>,
    /// Values of a paced run.
    #[serde(flatten)]
    pub paced: PacedValues,
    /// Messages, or round trips, per second of the slowest of several peers. Absent, like the two values below, for workloads
    /// with one sender and one receiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest_peer_per_s: Option<f64>,
    /// Messages, or round trips, per second of the fastest peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fastest_peer_per_s: Option<f64>,
    /// Rate of the slowest peer divided by that of the fastest: 1 if all were equally fast.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<f64>,
    /// Round trip of a cache line between the two CPUs, ns: mean of the probes before and after the run.
    pub cacheline_round_trip_ns: Option<f64>,
    /// Round trip of a cache line before the run, ns.
    pub cacheline_round_trip_before_ns: Option<f64>,
    /// Round trip of a cache line after the run, ns.
    pub cacheline_round_trip_after_ns: Option<f64>,
    /// Time that the peers were runnable but not running, ns.
    pub run_delay_ns: Option<u64>,
    /// Time that the host stole from the CPUs of the run, ns.
    pub steal_ns: Option<u64>,
    /// Source of `ROLE_user_ns` and `ROLE_system_ns`, whose sum is `ROLE_cpu_ns`. Absent in files of older
    /// versions, where the kernel's estimate provides the sum as well.
    #[serde(default)]
    pub user_system_split: Option<UserSystemSplit>,
    /// Resource usage of each role: `ROLE_user_ns`, `ROLE_system_ns`, `ROLE_minor_faults`,
    /// `ROLE_voluntary_switches`, `ROLE_involuntary_switches`, `ROLE_calls`, `ROLE_short_writes`,
    /// `ROLE_short_reads`, `ROLE_cpu_ns`, `ROLE_run_delay_ns`.
    #[serde(flatten, deserialize_with = "read_role_keys")]
    #[schemars(skip)]
    pub roles: RoleValues,
}

/// Suffixes of the keys of a role, in the order of [`role_keys`].
const ROLE_KEYS: [&str; 10] = [
    "user_ns",
    "system_ns",
    "minor_faults",
    "voluntary_switches",
    "involuntary_switches",
    "calls",
    "short_writes",
    "short_reads",
    "cpu_ns",
    "run_delay_ns",
];

/// Returns every key that a role may add to a sample.
pub fn role_keys() -> impl Iterator<Item = String> {
    Role::ALL.into_iter().flat_map(keys_of_role)
}

/// Returns the keys that `role` adds to a sample.
pub fn keys_of_role(role: Role) -> impl Iterator<Item = String> {
    ROLE_KEYS.into_iter().map(move |key| role_key(role, key))
}

/// Returns the key with which `role` stores the value called `key`.
pub fn role_key(role: Role, key: &str) -> String {
    format!("{}_{key}", role.name())
}

/// Whether `key` was added by a role of the run.
pub(super) fn is_role_key(key: &str) -> bool {
    let is_of = |role: Role| key.strip_prefix(role.name()).is_some_and(|key| key.starts_with('_'));
    Role::ALL.into_iter().any(is_of)
}

/// Reads the keys of roles among those that no field claimed; unknown keys, of later versions, are ignored.
fn read_role_keys<'de, D: Deserializer<'de>>(rest: D) -> Result<RoleValues, D::Error> {
    rest.deserialize_map(RoleKeysVisitor)
}

struct RoleKeysVisitor;

impl<'de> Visitor<'de> for RoleKeysVisitor {
    type Value = RoleValues;

    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut rest: A) -> Result<Self::Value, A::Error> {
        let mut roles = Vec::new();
        while let Some(key) = rest.next_key::<Cow<'de, str>>()? {
            if is_role_key(&key) {
                let value = rest.next_value::<serde_json::Value>()?;
                roles.push((key.into_owned(), value.as_u64()));
            } else {
                rest.next_value::<IgnoredAny>()?;
            }
        }
        Ok(roles.into_iter().collect())
    }
}

impl Sample {
    /// Whether the sample is valid and was not observed by an instrument that disturbs.
    pub fn is_valid_uninstrumented(&self) -> bool {
        self.excluded.is_none() && !is_any_intrusive(&self.instruments)
    }

    /// Builds the sample of `run` from `measurement`, with the warm-up `warm_up`. The caller decides later whether
    /// it is excluded, and determines the CPU distance class.
    pub fn new(
        run: RunIdentity,
        warm_up: WarmUp,
        mut measurement: Measurement,
        split: UserSystemSplit,
    ) -> Self {
        let paced = take_paced(&run.case, &mut measurement);
        let timed_every = measurement.round_trips.as_ref().map(|trips| trips.timed_every);
        let trips = measurement.round_trips.as_ref().map(|trips| &trips.latencies);
        let probes = measurement.cacheline_round_trip_ns;
        let peer_rates = rate_range(&measurement.peers);
        let roles = &measurement.roles;
        Self {
            seq: None,
            excluded: (run.block == 0).then_some(ExclusionReason::First),
            cpu_pair_class: None,
            total_bytes: measurement.total_bytes,
            kernel_buffer_granted_bytes: measurement.kernel_buffer_granted_bytes,
            instruments: Vec::new(),
            twin_of: None,
            began_ns: Some(measurement.began_ns),
            elapsed_ns: measurement.elapsed_ns,
            bandwidth_bytes_per_s: bandwidth(&run, &measurement),
            messages: measurement.messages,
            lost_messages: measurement.lost_messages,
            short_writes: roles.iter().map(|role| role.short_writes).sum(),
            short_reads: roles.iter().map(|role| role.short_reads).sum(),
            calibration_phases: measurement.calibration_phases,
            warm_up_ns: warm_up.duration_ns(),
            round_trip_ns_mean: mean_ns(&run, &measurement),
            cpu_ns_per_message: measured_cpu_per_message(&measurement, &paced),
            warm_up_slices_ns: Some(measurement.slices_ns).filter(|slices| !slices.is_empty()),
            kernel_thread_ns: measurement.kernel_thread_ns,
            round_trip_ns_p50: trips.and_then(|trips| trips.p50_ns),
            round_trip_ns_p90: trips.and_then(|trips| trips.p90_ns),
            round_trip_ns_p99: trips.and_then(|trips| trips.p99_ns),
            round_trip_ns_p999: trips.and_then(|trips| trips.p999_ns),
            round_trip_ns_max: trips.map(|trips| trips.max_ns),
            round_trip_timed_every: timed_every,
            paced,
            slowest_peer_per_s: peer_rates.map(|[slowest, _]| slowest),
            fastest_peer_per_s: peer_rates.map(|[_, fastest]| fastest),
            fairness: peer_rates.map(|[slowest, fastest]| slowest / fastest),
            cacheline_round_trip_ns: probes.map(|[before, after]| f64::midpoint(before, after)),
            cacheline_round_trip_before_ns: probes.map(|[before, _]| before),
            cacheline_round_trip_after_ns: probes.map(|[_, after]| after),
            run_delay_ns: roles.iter().map(|role| role.run_delay_ns).sum(),
            steal_ns: measurement.steal_ns,
            user_system_split: (!roles.is_empty()).then_some(split),
            roles: roles.iter().flat_map(role_values).collect(),
            round_trip_histogram: measurement.round_trips.map(|trips| trips.latencies.histogram),
            run,
        }
    }
}

/// Returns the CPU time of a message of `measurement`, whose paced values are `paced`, ns.
fn measured_cpu_per_message(measurement: &Measurement, paced: &PacedValues) -> Option<f64> {
    cpu_per_message(
        measurement.roles.iter().map(|role| role.cpu_ns),
        measurement.kernel_thread_ns,
        paced.pacer_cpu_ns.unwrap_or(0),
        measurement.messages,
    )
}

/// Takes the values of a paced run of `case` out of `measurement`, whose round trips are set to those from the schedule.
fn take_paced(case: &CaseIdentity, measurement: &mut Measurement) -> PacedValues {
    let (Some(pacing), Some(measured)) = (case.pacing(), measurement.paced.take()) else {
        return PacedValues::default();
    };
    let traffic = traffic(case);
    if traffic == Traffic::Answered {
        let latencies = measured.from_schedule.clone();
        measurement.round_trips = Some(RoundTrips { timed_every: 1, latencies });
    }
    let connections = u64::from(case.peers.unwrap_or(1));
    PacedValues::new((&pacing, connections), measured, traffic)
}

fn traffic(case: &CaseIdentity) -> Traffic {
    match case.workload.is_answered() {
        _ if case.is_harness_only() => Traffic::None,
        true => Traffic::Answered,
        false => Traffic::OneWay,
    }
}

/// Returns the CPU time of a message, ns: that of all roles and of the kernel threads, without that of the pacer. `None` if that of a role is unknown.
#[allow(clippy::cast_precision_loss, reason = "a mean, good to 53 bits")]
pub(super) fn cpu_per_message(
    of_roles: impl Iterator<Item = Option<u64>>,
    kernel_thread_ns: Option<u64>,
    pacer_cpu_ns: u64,
    messages: u64,
) -> Option<f64> {
    let of_roles = of_roles.collect::<Option<Vec<u64>>>()?;
    if of_roles.is_empty() || messages == 0 {
        return None;
    }
    let all = of_roles.into_iter().chain(kernel_thread_ns);
    let used_ns = all.map(|ns| ns as f64).sum::<f64>() - pacer_cpu_ns as f64;
    Some(used_ns.max(0.0) / messages as f64)
}

/// Computes elapsed time divided by trips, which is also known if no trip was timed individually.
#[allow(clippy::cast_precision_loss, reason = "a mean, good to 53 bits")]
fn mean_ns(run: &RunIdentity, measurement: &Measurement) -> Option<f64> {
    let timed = measurement.round_trips.as_ref().map(|trips| trips.latencies.mean_ns);
    let over_all = || measurement.elapsed_ns as f64 / measurement.messages.max(1) as f64;
    // At a rate, the elapsed time is that of the schedule.
    let is_unpaced = run.case.workload.is_answered() && run.case.rate_per_s.is_none();
    timed.or_else(|| is_unpaced.then(over_all))
}

fn bandwidth(run: &RunIdentity, measurement: &Measurement) -> Option<u64> {
    let is_paced = run.case.rate_per_s.is_some();
    if run.case.workload.is_answered() || run.case.is_harness_only() || is_paced {
        return None;
    }
    let scaled = u128::from(measurement.arrived_bytes) * 1_000_000_000;
    u64::try_from(scaled / u128::from(measurement.elapsed_ns.max(1))).ok()
}

fn role_values(usage: &RoleUsage) -> Vec<(String, Option<u64>)> {
    let values = [
        Some(usage.user_ns),
        Some(usage.system_ns),
        Some(usage.minor_faults),
        Some(usage.voluntary_switches),
        Some(usage.involuntary_switches),
        usage.calls,
        Some(usage.short_writes),
        Some(usage.short_reads),
        usage.cpu_ns,
        usage.run_delay_ns,
    ];
    let keys = ROLE_KEYS.into_iter().zip(values);
    keys.map(|(key, value)| (role_key(usage.role, key), value)).collect()
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use crate::record::ResultsLine;
    use crate::testing::sample;

    #[test]
    fn a_line_survives_writing_and_reading() {
        let mut run = sample("pipe", WorkloadKind::RoundTrip, 64, 1, 4_000_000);
        // The properties of the mechanism and the components of the name are stored in the header.
        (run.run.case.facts, run.run.case.name) = (None, None);
        let line = ResultsLine::Sample(run);
        let text = serde_json::to_string(&line).unwrap();
        assert_eq!(serde_json::from_str::<ResultsLine>(&text).unwrap(), line);
    }

    #[test]
    fn bandwidth_is_bytes_that_arrived_over_time() {
        let run = sample("pipe", WorkloadKind::Stream, 1_000, 1, 1_000_000);
        assert_eq!(run.bandwidth_bytes_per_s, Some(1_000_000_000));
        assert_eq!(sample("null", WorkloadKind::Stream, 64, 1, 1_000).bandwidth_bytes_per_s, None);
    }
}
