//! The objects of a results file. Their JSON Schema, made from these types, is published in
//! `docs/results.schema.json`; a test holds the two together.

use std::collections::BTreeMap;

use ipcperf_engine::placement::Placement;
use ipcperf_engine::workload::Kind;
use ipcperf_engine::{
    Failure, FailureKind, Measurement, Mode, Role, RoleUsage, RunSpec, TouchCheck,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::machine::Environment;
use crate::plan::{Case, Plan};

/// One line of a results file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "samples are by far the most frequent lines")]
pub(crate) enum Line {
    /// The first line: what was asked of which machine.
    Header(Header),
    /// What one run yielded.
    Sample(Sample),
    /// Why one run yielded nothing.
    Failure(FailedRun),
    /// The last line: how the command ended. `resume` appends after it, and the last counts.
    Footer(Footer),
}

/// What was asked of which machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Header {
    /// Version of this format.
    pub(crate) schema: u32,
    /// The arguments of the command.
    pub(crate) command: Vec<String>,
    /// Whether levels were thinned for a quick look.
    pub(crate) quick: bool,
    /// The study that was run, if one was.
    pub(crate) study: Option<String>,
    /// Hash of the study's file.
    pub(crate) study_hash: Option<String>,
    /// What shuffled the blocks.
    pub(crate) seed: u64,
    /// When it started, RFC 3339.
    pub(crate) started: String,
    /// Everything that was to be run, and what was not.
    pub(crate) plan: PlanRecord,
    /// The machine and its state.
    pub(crate) environment: Environment,
    /// What this machine cannot beat, where it was measured.
    pub(crate) limits: Option<BTreeMap<String, f64>>,
}

/// Everything that was to be run, and what was not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PlanRecord {
    /// Kept repetitions of each case; one more block comes first and is set aside.
    pub(crate) repetitions: u32,
    /// The most a run may last, s.
    pub(crate) deadline_s: f64,
    /// The cases by name.
    pub(crate) cases: Vec<String>,
    /// Cells that could not be carried.
    pub(crate) refused: Vec<RefusedRecord>,
    /// Mechanisms that cannot be used on this machine.
    pub(crate) unavailable: Vec<UnavailableRecord>,
}

/// A cell of the matrix that could not be carried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RefusedRecord {
    /// Which cell.
    #[serde(flatten)]
    pub(crate) case: CaseIdentity,
    /// Why.
    pub(crate) reason: String,
}

/// A mechanism that cannot be used on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct UnavailableRecord {
    /// Its name.
    pub(crate) mechanism: String,
    /// What is missing.
    pub(crate) reason: String,
    /// What would help.
    pub(crate) remedy: String,
}

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

/// One cell of the matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CaseIdentity {
    /// Names the case: the same in every file that has it.
    pub(crate) case_id: String,
    /// Mechanism.
    pub(crate) mechanism: String,
    /// The mechanism's options that were set.
    pub(crate) options: BTreeMap<String, String>,
    /// Workload.
    pub(crate) workload: Kind,
    /// Mode.
    pub(crate) mode: Mode,
    /// Placement.
    pub(crate) placement: String,
    /// CPUs of sender and receiver, or of the one thread; empty where the scheduler chose.
    pub(crate) cpus: Vec<u32>,
    /// Bytes handed to one call, or of one message.
    pub(crate) buffer_bytes: u64,
    /// What was said of the kernel's buffer: `default`, `match`, or bytes.
    pub(crate) kernel_buffer: String,
    /// What the kernel was asked to hold between the parties; null for its default.
    pub(crate) kernel_buffer_asked_bytes: Option<u64>,
    /// Whether order, length and content of each message were checked.
    pub(crate) verify: bool,
}

/// Which run of which case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RunIdentity {
    /// Names the run within its file.
    pub(crate) run_id: String,
    /// The block it lies in, from 0.
    pub(crate) block: u32,
    /// 1, and more for a run that was repeated in its block.
    pub(crate) attempt: u32,
    /// The repetition it is, from 0, which is set aside.
    pub(crate) repetition: u32,
    /// Which case.
    #[serde(flatten)]
    pub(crate) case: CaseIdentity,
}

/// What one run yielded. Each role of the run adds keys of its own, such as `sender_user_ns`;
/// what does not apply or could not be had is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("patternProperties" = {
    "^(sender|receiver|broker|both)_": { "type": ["integer", "null"], "minimum": 0 }
}))]
pub(crate) struct Sample {
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
    /// What each role used: `ROLE_user_ns`, `ROLE_system_ns`, `ROLE_minor_faults`,
    /// `ROLE_voluntary_switches`, `ROLE_involuntary_switches`, `ROLE_calls`,
    /// `ROLE_short_writes`, `ROLE_short_reads`, `ROLE_run_delay_ns`.
    #[serde(flatten, deserialize_with = "keys_of_roles")]
    #[schemars(skip)]
    pub(crate) roles: BTreeMap<String, Option<u64>>,
}

/// The keys of roles among those that no field claimed; others, of a later ipcperf, are let go.
fn keys_of_roles<'de, D: serde::Deserializer<'de>>(
    rest: D,
) -> Result<BTreeMap<String, Option<u64>>, D::Error> {
    let rest = BTreeMap::<String, serde_json::Value>::deserialize(rest)?;
    let of_role = |key: &String| {
        ["sender_", "receiver_", "both_", "broker_"].iter().any(|role| key.starts_with(role))
    };
    Ok(rest.into_iter().filter(|(key, _)| of_role(key)).map(|(k, v)| (k, v.as_u64())).collect())
}

/// Why one run yielded nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FailedRun {
    /// Which run of which case.
    #[serde(flatten)]
    pub(crate) run: RunIdentity,
    /// The kind of failure.
    pub(crate) what: FailureKind,
    /// The role that met it.
    pub(crate) role: Option<Role>,
    /// Where: the call or step.
    #[serde(rename = "where")]
    pub(crate) place: String,
    /// The system's error number.
    pub(crate) errno: Option<i32>,
    /// What the user can do.
    pub(crate) remedy: Option<String>,
}

/// How the command ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Footer {
    /// Whether every run of the plan was carried out, failed ones included.
    pub(crate) complete: bool,
    /// Samples written.
    pub(crate) samples: u64,
    /// Runs that failed.
    pub(crate) failures: u64,
    /// How long all of it took.
    pub(crate) elapsed_ns: u64,
    /// When it ended, RFC 3339.
    pub(crate) ended: String,
}

impl PlanRecord {
    pub(crate) fn of(plan: &Plan) -> Self {
        Self {
            repetitions: plan.repetitions,
            deadline_s: plan.deadline.as_secs_f64(),
            cases: plan.cases.iter().map(|case| case.id.clone()).collect(),
            refused: plan.refused.iter().map(RefusedRecord::of).collect(),
            unavailable: plan.unavailable.iter().map(UnavailableRecord::of).collect(),
        }
    }
}

impl RefusedRecord {
    fn of(refused: &crate::plan::Refused) -> Self {
        let case = CaseIdentity::of(&refused.id, &refused.spec, refused.placement);
        Self { case, reason: refused.reason.clone() }
    }
}

impl UnavailableRecord {
    fn of(absent: &crate::plan::Absent) -> Self {
        Self {
            mechanism: absent.mechanism.to_owned(),
            reason: absent.reason.clone(),
            remedy: absent.remedy.clone(),
        }
    }
}

/// The name of a run within its file.
pub(crate) fn run_id(block: u32, position: usize, attempt: u32) -> String {
    format!("{block}.{position}.{attempt}")
}

impl CaseIdentity {
    fn of(id: &str, spec: &RunSpec, placement: Placement) -> Self {
        Self {
            case_id: id.to_owned(),
            mechanism: spec.mechanism.clone(),
            options: spec.options.clone(),
            workload: spec.workload,
            mode: spec.mode,
            placement: placement.to_string(),
            cpus: match spec.cpus {
                Some([cpu, _]) if spec.mode == Mode::OneThread => vec![cpu],
                Some(cpus) => cpus.to_vec(),
                None => Vec::new(),
            },
            buffer_bytes: spec.buffer_bytes,
            kernel_buffer: spec.kernel_buffer.to_string(),
            kernel_buffer_asked_bytes: spec.kernel_buffer.asked_bytes(spec.buffer_bytes),
            verify: spec.check == TouchCheck::Verify,
        }
    }
}

impl RunIdentity {
    /// The first attempt of `case` in `block`, as the `position`th run of it.
    pub(crate) fn of(case: &Case, block: u32, position: usize) -> Self {
        Self {
            run_id: run_id(block, position, 1),
            block,
            attempt: 1,
            repetition: block,
            case: CaseIdentity::of(&case.id, &case.spec, case.placement),
        }
    }
}

impl Sample {
    /// What `measurement` says of `run`.
    pub(crate) fn of(run: RunIdentity, measurement: Measurement) -> Self {
        let trips = measurement.round_trips.as_ref();
        let probes = measurement.cacheline_round_trip_ns;
        let roles = &measurement.roles;
        Self {
            set_aside: (run.block == 0).then_some(SetAside::First),
            cpu_pair_class: None,
            total_bytes: measurement.total_bytes,
            kernel_buffer_granted_bytes: measurement.kernel_buffer_granted_bytes,
            instruments: Vec::new(),
            twin_of: None,
            elapsed_ns: measurement.elapsed_ns,
            bandwidth_bytes_per_s: bandwidth(&run, &measurement),
            messages: measurement.messages,
            lost_messages: measurement.lost_messages,
            short_writes: roles.iter().map(|role| role.short_writes).sum(),
            short_reads: roles.iter().map(|role| role.short_reads).sum(),
            calibration_phases: measurement.calibration_phases,
            round_trip_ns_p50: trips.map(|trips| trips.p50_ns),
            round_trip_ns_p90: trips.map(|trips| trips.p90_ns),
            round_trip_ns_p99: trips.map(|trips| trips.p99_ns),
            round_trip_ns_p999: trips.map(|trips| trips.p999_ns),
            round_trip_ns_max: trips.map(|trips| trips.max_ns),
            round_trip_ns_mean: trips.map(|trips| trips.mean_ns),
            round_trip_timed_every: trips.map(|trips| trips.timed_every),
            cacheline_round_trip_ns: probes.map(|[before, after]| f64::midpoint(before, after)),
            cacheline_round_trip_before_ns: probes.map(|[before, _]| before),
            cacheline_round_trip_after_ns: probes.map(|[_, after]| after),
            run_delay_ns: roles.iter().map(|role| role.run_delay_ns).sum(),
            steal_ns: measurement.steal_ns,
            roles: roles.iter().flat_map(role_keys).collect(),
            round_trip_histogram: measurement.round_trips.map(|trips| trips.histogram),
            run,
        }
    }
}

fn bandwidth(run: &RunIdentity, measurement: &Measurement) -> Option<u64> {
    use ipcperf_engine::mechanism::{Delivery, find};
    let moves = find(&run.case.mechanism).is_some_and(|known| known.delivery != Delivery::Nothing);
    if run.case.workload != Kind::Stream || !moves {
        return None;
    }
    let scaled = u128::from(measurement.arrived_bytes) * 1_000_000_000;
    u64::try_from(scaled / u128::from(measurement.elapsed_ns.max(1))).ok()
}

fn role_keys(usage: &RoleUsage) -> Vec<(String, Option<u64>)> {
    let role = usage.role.name();
    let keys = [
        ("user_ns", Some(usage.user_ns)),
        ("system_ns", Some(usage.system_ns)),
        ("minor_faults", Some(usage.minor_faults)),
        ("voluntary_switches", Some(usage.voluntary_switches)),
        ("involuntary_switches", Some(usage.involuntary_switches)),
        ("calls", Some(usage.calls)),
        ("short_writes", Some(usage.short_writes)),
        ("short_reads", Some(usage.short_reads)),
        ("run_delay_ns", usage.run_delay_ns),
    ];
    keys.into_iter().map(|(key, value)| (format!("{role}_{key}"), value)).collect()
}

impl FailedRun {
    pub(crate) fn of(run: RunIdentity, failure: Failure) -> Self {
        Self {
            run,
            what: failure.what,
            role: failure.role,
            place: failure.place,
            errno: failure.errno,
            remedy: failure.remedy,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

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
            verify: false,
        };
        let run_id = run_id(block, 0, 1);
        let run = RunIdentity { run_id, block, attempt: 1, repetition: block, case };
        Sample::of(run, measurement(workload, buffer_bytes, elapsed_ns))
    }

    fn measurement(workload: Kind, buffer_bytes: u64, elapsed_ns: u64) -> Measurement {
        let mut histogram = ipcperf_engine::histogram::TickHistogram::touched();
        histogram.record(elapsed_ns / 1_000);
        #[allow(clippy::cast_precision_loss)]
        let trips = histogram.report(1.0, 1, elapsed_ns as f64 / 1_000.0).unwrap();
        Measurement {
            elapsed_ns,
            total_bytes: buffer_bytes * 1_000,
            messages: 1_000,
            arrived_bytes: buffer_bytes * 1_000,
            lost_messages: None,
            calibration_phases: 0,
            round_trips: (workload == Kind::RoundTrip).then_some(trips),
            kernel_buffer_granted_bytes: Some(65_536),
            cacheline_round_trip_ns: None,
            steal_ns: Some(0),
            roles: Vec::new(),
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
