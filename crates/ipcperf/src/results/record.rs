//! The objects of a results file. Their JSON Schema, made from these types, is published in
//! `docs/results.schema.json`; a test holds the two together.

use std::collections::{BTreeMap, HashMap};

use ipcperf_engine::handling::{Content, FirstTouch, Handling, Reply, Reuse, Touch};
use ipcperf_engine::limits::Limits;
use ipcperf_engine::placement::Placement;
use ipcperf_engine::workload::Kind;
use ipcperf_engine::{Failure, FailureKind, Mode, Role, RunSpec, TouchCheck};
use ipcperf_observe::Observation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::planned::PlanRecord;
use super::sample::Sample;
use crate::machine::Environment;
use crate::plan::{Case, MESSAGES, TOTAL};
use crate::summary::ProbeEffect;

/// One line of a results file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "samples are by far the most frequent lines")]
pub(crate) enum Line {
    /// The first line: what was asked of which machine.
    Header(Header),
    /// What one run yielded.
    Sample(Sample),
    /// What an instrument saw of a role in a run.
    Observation(ObservationRecord),
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
    /// SHA-256 of the study's file, in hexadecimal.
    pub(crate) study_hash: Option<String>,
    /// The study's file, to the letter, as it was before anything was measured.
    #[serde(default)]
    pub(crate) study_text: Option<String>,
    /// The hypotheses that it was measured for; all of the study's where none are named.
    #[serde(default)]
    pub(crate) study_only: Vec<String>,
    /// What shuffled the blocks.
    pub(crate) seed: u64,
    /// When it started, RFC 3339.
    pub(crate) started: String,
    /// Everything that was to be run, and what was not.
    pub(crate) plan: PlanRecord,
    /// The machine and its state.
    pub(crate) environment: Environment,
    /// What this machine cannot beat, where it was measured.
    pub(crate) limits: Option<Limits>,
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
    /// Who wrote and read every byte.
    #[serde(default)]
    pub(crate) touch: Touch,
    /// What messages held: `constant`, `random`, or `compressible:R`.
    #[serde(default)]
    pub(crate) payload: Content,
    /// Whether messages lay where the one before lay.
    #[serde(default)]
    pub(crate) buffers: Reuse,
    /// When buffers were touched first.
    #[serde(default)]
    pub(crate) first_touch: FirstTouch,
    /// What a request was answered with: `echo`, or bytes; null in other workloads.
    #[serde(default)]
    pub(crate) reply: Option<Reply>,
    /// Bytes of the answer to each message; null where there is none.
    #[serde(default)]
    pub(crate) reply_bytes: Option<u64>,
    /// Whether order, length and content of each message were checked.
    pub(crate) verify: bool,
}

/// Longer names than this no file has that was measured: tables, figures and their words are made of
/// them, over and over.
const LONGEST_NAME: usize = 4_096;

/// That `name` is no longer than names are.
///
/// # Errors
/// How long it is.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    if name.len() <= LONGEST_NAME {
        return Ok(());
    }
    Err(format!("a name of {} bytes: longer than {LONGEST_NAME} no name is", name.len()))
}

impl CaseIdentity {
    /// What is done with messages.
    pub(crate) fn handling(&self) -> Handling {
        Handling {
            touch: self.touch,
            content: self.payload,
            buffers: self.buffers,
            first_touch: self.first_touch,
            reply: self.reply.unwrap_or_default(),
        }
    }

    /// What was asked for that is not as usual, and no factor with a column or heading of its own: the
    /// flag without its dashes, and what it was given.
    pub(crate) fn conditions(&self) -> Vec<(&'static str, String)> {
        let kernel_buffer = Some(("kernel-buffer", self.kernel_buffer.clone()));
        let kernel_buffer = kernel_buffer.filter(|(_, asked)| asked != "default");
        kernel_buffer.into_iter().chain(self.handling().conditions()).collect()
    }

    /// How much the case moves, bytes or `N messages`, where its name tells that: others of the file
    /// move another amount.
    pub(crate) fn amount(&self) -> Option<String> {
        let of = |key: &str| {
            let (_, rest) = self.case_id.split_once(key)?;
            Some(rest.split('/').next().unwrap_or(rest).to_owned())
        };
        of(TOTAL).or_else(|| match of(MESSAGES)?.as_str() {
            "1" => Some("1 message".to_owned()),
            messages => Some(format!("{messages} messages")),
        })
    }

    /// That its names are no longer than names are.
    ///
    /// # Errors
    /// How long one is.
    pub(super) fn check_names(&self) -> Result<(), String> {
        let Self { case_id, mechanism, placement, kernel_buffer, .. } = self;
        let options = self.options.iter().flat_map(|(name, value)| [name, value]);
        let all = [case_id, mechanism, placement, kernel_buffer].into_iter().chain(options);
        all.map(String::as_str).try_for_each(check_name)
    }
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

/// Why one run yielded nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FailedRun {
    /// The number of the line, from 1 below the header; none in files of before lines were numbered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seq: Option<u64>,
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
    /// Whether it says nothing of the mechanism: `ipcperf resume` makes the run again.
    #[serde(default)]
    pub(crate) transient: bool,
}

/// What an instrument saw of a role in a run: the fields that every instrument has, and its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ObservationRecord {
    /// The number of the line, from 1 below the header; none in files of before lines were numbered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seq: Option<u64>,
    /// The run, by its name.
    pub(crate) run_id: String,
    /// The instrument.
    pub(crate) instrument: String,
    /// Whose; null where it is of the run as a whole.
    pub(crate) role: Option<String>,
    /// The instrument's own.
    #[serde(flatten)]
    pub(crate) fields: serde_json::Map<String, serde_json::Value>,
}

impl ObservationRecord {
    /// What `instrument` told of the run `run_id`.
    pub(crate) fn of(run_id: &str, instrument: &str, told: Observation) -> Self {
        let Observation { role, fields } = told;
        let (run_id, instrument) = (run_id.to_owned(), instrument.to_owned());
        Self { seq: None, run_id, instrument, role, fields }
    }

    /// As the instrument told it.
    pub(crate) fn told(&self) -> Observation {
        Observation { role: self.role.clone(), fields: self.fields.clone() }
    }
}

/// How the command ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Footer {
    /// The number of the line, from 1 below the header; none in files of before lines were numbered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seq: Option<u64>,
    /// Whether every run of the plan was carried out, failed ones included, but not those that `resume` makes
    /// again.
    pub(crate) complete: bool,
    /// Samples in the file.
    pub(crate) samples: u64,
    /// Observations in the file.
    #[serde(default)]
    pub(crate) observations: Option<u64>,
    /// Failures in the file, those included whose run a later attempt made good.
    pub(crate) failures: u64,
    /// Lines that the file had lost when it was resumed; their runs were made again.
    #[serde(default)]
    pub(crate) lost_lines: u64,
    /// What being watched did to the cases that were.
    #[serde(default)]
    pub(crate) probe_effects: Vec<ProbeEffect>,
    /// How long all of it took.
    pub(crate) elapsed_ns: u64,
    /// When it ended, RFC 3339.
    pub(crate) ended: String,
}

/// The name of a run within its file.
pub(crate) fn run_id(block: u32, position: usize, attempt: u32) -> String {
    format!("{block}.{position}.{attempt}")
}

impl CaseIdentity {
    /// The case called `id`, as `spec` and `placement` have it.
    pub(super) fn of(id: &str, spec: &RunSpec, placement: Placement) -> Self {
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
            touch: spec.handling.touch,
            payload: spec.handling.content,
            buffers: spec.handling.buffers,
            first_touch: spec.handling.first_touch,
            reply: (spec.workload == Kind::RequestReply).then_some(spec.handling.reply),
            reply_bytes: spec.reply_bytes(),
            verify: spec.check == TouchCheck::Verify,
        }
    }
}

impl RunIdentity {
    /// Attempt `attempt` at `case` in `block`, the `position`th case of it.
    pub(crate) fn of(case: &Case, block: u32, position: usize, attempt: u32) -> Self {
        Self {
            run_id: run_id(block, position, attempt),
            block,
            attempt,
            repetition: block,
            case: CaseIdentity::of(&case.id, &case.spec, case.placement),
        }
    }
}

/// The failures that no later attempt at the same run made good, or failed again.
pub(crate) fn standing(failures: Vec<FailedRun>, samples: &[Sample]) -> Vec<FailedRun> {
    if failures.is_empty() {
        return failures;
    }
    let key = |run: &RunIdentity| (run.case.case_id.clone(), run.block);
    let mut last: HashMap<(String, u32), u32> = HashMap::new();
    for failure in &failures {
        let attempt = last.entry(key(&failure.run)).or_default();
        *attempt = failure.run.attempt.max(*attempt);
    }
    // Samples are many: only those after a first attempt can be such.
    for sample in samples.iter().filter(|sample| sample.run.attempt > 1) {
        if let Some(attempt) = last.get_mut(&key(&sample.run)) {
            *attempt = sample.run.attempt.max(*attempt);
        }
    }
    let is_last = |failure: &FailedRun| last.get(&key(&failure.run)) == Some(&failure.run.attempt);
    failures.into_iter().filter(is_last).collect()
}

impl FailedRun {
    pub(crate) fn of(run: RunIdentity, failure: Failure) -> Self {
        Self {
            seq: None,
            run,
            what: failure.what,
            role: failure.role,
            place: failure.place,
            errno: failure.errno,
            remedy: failure.remedy,
            transient: failure.transient,
        }
    }
}
