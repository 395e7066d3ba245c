//! What one run yields, as it stands in a results file.

use std::borrow::Cow;
use std::fmt::Formatter;

use ipcperf_engine::worker::UserSystemSplit;
use ipcperf_engine::{Measurement, RoleUsage, WarmUp};
use schemars::JsonSchema;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::planned::disturb;
use super::record::RunIdentity;
use super::roles::Roles;

/// Why a sample is kept but not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SetAside {
    /// It lies in the first block.
    First,
    /// The machine, not the case, held it up.
    Disturbed,
    /// The cache-line probes around it disagree.
    ProbeDisagrees,
}

impl SetAside {
    /// Whether the machine held the run up: the first block is set aside whatever happened in it.
    pub(crate) const fn is_disturbance(self) -> bool {
        match self {
            Self::First => false,
            Self::Disturbed | Self::ProbeDisagrees => true,
        }
    }

    /// In words, as of many.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::First => "of the first block",
            Self::Disturbed => "held up by the machine",
            Self::ProbeDisagrees => "whose CPUs moved apart",
        }
    }
}

/// What one run yielded. Each role of the run adds keys of its own, such as `sender_user_ns`;
/// what does not apply or could not be had is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("patternProperties" = {
    "^(sender|receiver|broker|both)_": { "type": ["integer", "null"], "minimum": 0 }
}))]
pub(crate) struct Sample {
    /// The number of the line, from 1 below the header; none in files of before lines were numbered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seq: Option<u64>,
    /// Which run of which case.
    #[serde(flatten)]
    pub(crate) run: RunIdentity,
    /// Why it does not count, if so.
    pub(crate) set_aside: Option<SetAside>,
    /// The class of distance between the two CPUs.
    pub(crate) cpu_pair_class: Option<String>,
    /// Payload one way.
    pub(crate) total_bytes: u64,
    /// What the kernel granted between the parties.
    pub(crate) kernel_buffer_granted_bytes: Option<u64>,
    /// Instruments that watched.
    pub(crate) instruments: Vec<String>,
    /// The disturbed case this is the undisturbed twin of.
    pub(crate) twin_of: Option<String>,
    /// When the first byte was about to be sent, on `CLOCK_MONOTONIC`, which starts at boot.
    pub(crate) began_ns: Option<u64>,
    /// From just before the first byte was sent to just after the last was received.
    pub(crate) elapsed_ns: u64,
    /// Payload that arrived, over elapsed time. Null for round trips and where nothing moves.
    pub(crate) bandwidth_bytes_per_s: Option<u64>,
    /// Messages, or round trips, that arrived.
    pub(crate) messages: u64,
    /// Messages that did not, where the mechanism may lose them.
    pub(crate) lost_messages: Option<u64>,
    /// Sends that took less than they were given.
    pub(crate) short_writes: u64,
    /// Receives that returned less than was asked.
    pub(crate) short_reads: u64,
    /// Short phases before this one that found the total.
    pub(crate) calibration_phases: u32,
    /// What was moved for, after those phases, to warm up.
    pub(crate) warm_up_ns: Option<u64>,
    /// How long each of the slices took from which the warm-up was read; all move the same.
    pub(crate) warm_up_slices_ns: Option<Vec<u64>>,
    /// CPU time of the kernel's own threads that work for the mechanism, on the CPUs of the run.
    pub(crate) kernel_thread_ns: Option<u64>,
    /// Median round trip.
    pub(crate) round_trip_ns_p50: Option<u64>,
    /// 90th percentile.
    pub(crate) round_trip_ns_p90: Option<u64>,
    /// 99th percentile.
    pub(crate) round_trip_ns_p99: Option<u64>,
    /// 99.9th percentile.
    pub(crate) round_trip_ns_p999: Option<u64>,
    /// Longest.
    pub(crate) round_trip_ns_max: Option<u64>,
    /// Elapsed time over trips.
    pub(crate) round_trip_ns_mean: Option<f64>,
    /// Every how many trips one was timed for the distribution.
    pub(crate) round_trip_timed_every: Option<u64>,
    /// HDR histogram of the timed trips, ns, V2 encoding, base64.
    pub(crate) round_trip_histogram: Option<String>,
    /// Cache line there and back between the two CPUs: mean of the probes before and after.
    pub(crate) cacheline_round_trip_ns: Option<f64>,
    /// The probe before.
    pub(crate) cacheline_round_trip_before_ns: Option<f64>,
    /// The probe after.
    pub(crate) cacheline_round_trip_after_ns: Option<f64>,
    /// Time the parties were runnable but not running.
    pub(crate) run_delay_ns: Option<u64>,
    /// Time the host stole from the run's CPUs.
    pub(crate) steal_ns: Option<u64>,
    /// Where `ROLE_user_ns` and `ROLE_system_ns` come from, whose sum is `ROLE_cpu_ns`; none in files of an older
    /// ipcperf, whose sums are the kernel's as well.
    #[serde(default)]
    pub(crate) user_system_split: Option<UserSystemSplit>,
    /// What each role used: `ROLE_user_ns`, `ROLE_system_ns`, `ROLE_minor_faults`,
    /// `ROLE_voluntary_switches`, `ROLE_involuntary_switches`, `ROLE_calls`,
    /// `ROLE_short_writes`, `ROLE_short_reads`, `ROLE_cpu_ns`, `ROLE_run_delay_ns`.
    #[serde(flatten, deserialize_with = "read_keys_of_roles")]
    #[schemars(skip)]
    pub(crate) roles: Roles,
}

/// What each role's name stands before, in the order of [`role_keys`].
const KEYS_OF_ROLES: [&str; 10] = [
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

const ROLES: [&str; 4] = ["sender_", "receiver_", "both_", "broker_"];

/// Every key that a role may add to a sample.
pub(crate) fn keys_of_roles() -> impl Iterator<Item = String> {
    let of = |role: &'static str| KEYS_OF_ROLES.into_iter().map(move |key| format!("{role}{key}"));
    ROLES.into_iter().flat_map(of)
}

/// Whether a role of the run has added `key`.
pub(super) fn is_of_role(key: &str) -> bool {
    ROLES.iter().any(|role| key.starts_with(role))
}

/// The keys of roles among those that no field claimed; others, of a later ipcperf, are let go.
fn read_keys_of_roles<'de, D: Deserializer<'de>>(rest: D) -> Result<Roles, D::Error> {
    rest.deserialize_map(KeysOfRoles)
}

struct KeysOfRoles;

impl<'de> Visitor<'de> for KeysOfRoles {
    type Value = Roles;

    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut rest: A) -> Result<Self::Value, A::Error> {
        let mut roles = Vec::new();
        while let Some(key) = rest.next_key::<Cow<'de, str>>()? {
            if is_of_role(&key) {
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
    /// Whether it counts, and nothing that disturbs watched it.
    pub(crate) fn counts_undisturbed(&self) -> bool {
        self.set_aside.is_none() && !disturb(&self.instruments)
    }

    /// What `measurement` says of `run`, which warmed up as `warm_up` says. Whether it counts, and
    /// how far its CPUs were apart, is for others to say.
    pub(crate) fn of(run: RunIdentity, warm_up: WarmUp, measurement: Measurement) -> Self {
        let trips = measurement.round_trips.as_ref();
        let probes = measurement.cacheline_round_trip_ns;
        let roles = &measurement.roles;
        Self {
            seq: None,
            set_aside: (run.block == 0).then_some(SetAside::First),
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
            warm_up_ns: match warm_up {
                WarmUp::ForNs(ns) => Some(ns),
                WarmUp::None | WarmUp::Slices(_) => None,
            },
            round_trip_ns_mean: mean_ns(&run, &measurement),
            warm_up_slices_ns: Some(measurement.slices_ns).filter(|slices| !slices.is_empty()),
            kernel_thread_ns: measurement.kernel_thread_ns,
            round_trip_ns_p50: trips.map(|trips| trips.p50_ns),
            round_trip_ns_p90: trips.map(|trips| trips.p90_ns),
            round_trip_ns_p99: trips.map(|trips| trips.p99_ns),
            round_trip_ns_p999: trips.map(|trips| trips.p999_ns),
            round_trip_ns_max: trips.map(|trips| trips.max_ns),
            round_trip_timed_every: trips.map(|trips| trips.timed_every),
            cacheline_round_trip_ns: probes.map(|[before, after]| f64::midpoint(before, after)),
            cacheline_round_trip_before_ns: probes.map(|[before, _]| before),
            cacheline_round_trip_after_ns: probes.map(|[_, after]| after),
            run_delay_ns: roles.iter().map(|role| role.run_delay_ns).sum(),
            steal_ns: measurement.steal_ns,
            user_system_split: (!roles.is_empty()).then(|| split_on(&run.case.cpus)),
            roles: roles.iter().flat_map(role_keys).collect(),
            round_trip_histogram: measurement.round_trips.map(|trips| trips.histogram),
            run,
        }
    }
}

/// Where the user and system time of a run on `cpus` (none: the scheduler's choice) come from.
fn split_on(cpus: &[u32]) -> UserSystemSplit {
    UserSystemSplit::on(cpus.try_into().ok())
}

/// Elapsed time over trips, which is known also where no trip was timed on its own.
#[allow(clippy::cast_precision_loss, reason = "a mean, good to 53 bits")]
fn mean_ns(run: &RunIdentity, measurement: &Measurement) -> Option<f64> {
    let timed = measurement.round_trips.as_ref().map(|trips| trips.mean_ns);
    let over_all = || measurement.elapsed_ns as f64 / measurement.messages.max(1) as f64;
    timed.or_else(|| run.case.workload.is_answered().then(over_all))
}

fn bandwidth(run: &RunIdentity, measurement: &Measurement) -> Option<u64> {
    use ipcperf_engine::mechanism::{Delivery, find};
    let moves = find(&run.case.mechanism).is_some_and(|known| known.delivery != Delivery::Nothing);
    if run.case.workload.is_answered() || !moves {
        return None;
    }
    let scaled = u128::from(measurement.arrived_bytes) * 1_000_000_000;
    u64::try_from(scaled / u128::from(measurement.elapsed_ns.max(1))).ok()
}

fn role_keys(usage: &RoleUsage) -> Vec<(String, Option<u64>)> {
    let role = usage.role.name();
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
    let keys = KEYS_OF_ROLES.into_iter().zip(values);
    keys.map(|(key, value)| (format!("{role}_{key}"), value)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use ipcperf_engine::Mode;
    use ipcperf_engine::handling::{Content, FirstTouch, Reuse, Touch};
    use ipcperf_engine::workload::Kind;

    use super::*;
    use crate::results::record::{CaseIdentity, Line, run_id};

    /// A sample of `mechanism` with scripted times, for tests of what is made from samples.
    pub(crate) fn sample(
        mechanism: &str,
        workload: Kind,
        buffer_bytes: u64,
        block: u32,
        elapsed_ns: u64,
    ) -> Sample {
        let case = CaseIdentity {
            case_id: format!("{mechanism}/{}/2proc/same/{buffer_bytes}", workload.name()),
            mechanism: mechanism.to_owned(),
            options: BTreeMap::new(),
            workload,
            mode: Mode::TwoProcesses,
            placement: "same".to_owned(),
            cpus: vec![0, 0],
            buffer_bytes,
            kernel_buffer: "default".to_owned(),
            kernel_buffer_asked_bytes: None,
            touch: Touch::None,
            payload: Content::Constant,
            buffers: Reuse::Hot,
            first_touch: FirstTouch::AfterFork,
            reply: None,
            reply_bytes: None,
            verify: false,
        };
        let run_id = run_id(block, 0, 1);
        let run = RunIdentity { run_id, block, attempt: 1, repetition: block, case };
        Sample::of(run, WarmUp::None, measurement(workload, buffer_bytes, elapsed_ns))
    }

    fn measurement(workload: Kind, buffer_bytes: u64, elapsed_ns: u64) -> Measurement {
        let mut histogram = ipcperf_engine::histogram::TickHistogram::touched();
        histogram.record(elapsed_ns / 1_000);
        #[allow(clippy::cast_precision_loss)]
        let trips = histogram.report(1.0, 1, elapsed_ns as f64 / 1_000.0).unwrap();
        Measurement {
            began_ns: 0,
            elapsed_ns,
            total_bytes: buffer_bytes * 1_000,
            messages: 1_000,
            arrived_bytes: buffer_bytes * 1_000,
            lost_messages: None,
            calibration_phases: 0,
            slices_ns: Vec::new(),
            kernel_thread_ns: None,
            round_trips: workload.is_answered().then_some(trips),
            kernel_buffer_granted_bytes: Some(65_536),
            cacheline_round_trip_ns: None,
            steal_ns: Some(0),
            roles: Vec::new(),
            objects: Vec::new(),
            dials: Vec::new(),
            repeats: Vec::new(),
        }
    }

    #[test]
    fn a_line_survives_writing_and_reading() {
        let line = Line::Sample(sample("pipe", Kind::RoundTrip, 64, 1, 4_000_000));
        let text = serde_json::to_string(&line).unwrap();
        assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), line);
    }

    #[test]
    fn bandwidth_is_bytes_that_arrived_over_time() {
        let sample = sample("pipe", Kind::Stream, 1_000, 1, 1_000_000);
        assert_eq!(sample.bandwidth_bytes_per_s, Some(1_000_000_000));
        assert_eq!(self::sample("null", Kind::Stream, 64, 1, 1_000).bandwidth_bytes_per_s, None);
    }
}
