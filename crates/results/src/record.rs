//! The objects of a results file. Their JSON Schema, made from these types, is published in
//! `docs/results.schema.json`; a test holds the two together.

use std::collections::HashMap;

use ipcperf_model::environment::Environment;
use ipcperf_model::hardware_limits::Limits;
use ipcperf_model::observation::Observation;
use ipcperf_model::{Failure, FailureKind, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::identity::RunIdentity;
use super::planned::PlanRecord;
use crate::sample::Sample;

/// One line of a results file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "samples are by far the most frequent lines")]
pub enum Line {
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
pub struct Header {
    /// Version of this format.
    pub schema: u32,
    /// The arguments of the command.
    pub command: Vec<String>,
    /// Whether levels were thinned for a quick look.
    pub quick: bool,
    /// The study that was run, if one was.
    pub study: Option<String>,
    /// SHA-256 of the study's file, in hexadecimal.
    pub study_hash: Option<String>,
    /// The study's file, to the letter, as it was before anything was measured.
    #[serde(default)]
    pub study_text: Option<String>,
    /// The hypotheses that it was measured for; all of the study's where none are named.
    #[serde(default)]
    pub study_only: Vec<String>,
    /// What shuffled the blocks.
    pub seed: u64,
    /// When it started, RFC 3339.
    pub started: String,
    /// Everything that was to be run, and what was not.
    pub plan: PlanRecord,
    /// The machine and its state.
    pub environment: Environment,
    /// What this machine cannot beat, where it was measured.
    pub limits: Option<Limits>,
}

/// Why one run yielded nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedRun {
    /// The number of the line, from 1 below the header; none in files of before lines were numbered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Which run of which case.
    #[serde(flatten)]
    pub run: RunIdentity,
    /// The kind of failure.
    pub what: FailureKind,
    /// The role that met it.
    pub role: Option<Role>,
    /// Where: the call or step.
    #[serde(rename = "where")]
    pub place: String,
    /// The system's error number.
    pub errno: Option<i32>,
    /// What the user can do.
    pub remedy: Option<String>,
    /// Whether it says nothing of the mechanism: `ipcperf resume` makes the run again.
    #[serde(default)]
    pub transient: bool,
}

/// What an instrument saw of a role in a run: the fields that every instrument has, and its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservationRecord {
    /// The number of the line, from 1 below the header; none in files of before lines were numbered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The run, by its name.
    pub run_id: String,
    /// The instrument.
    pub instrument: String,
    /// Whose; null where it is of the run as a whole.
    pub role: Option<String>,
    /// The instrument's own.
    #[serde(flatten)]
    pub fields: serde_json::Map<String, serde_json::Value>,
}

impl ObservationRecord {
    /// What `instrument` told of the run `run_id`.
    pub fn of(run_id: &str, instrument: &str, told: Observation) -> Self {
        let Observation { role, fields } = told;
        let (run_id, instrument) = (run_id.to_owned(), instrument.to_owned());
        Self { seq: None, run_id, instrument, role, fields }
    }

    /// As the instrument told it.
    pub fn told(&self) -> Observation {
        Observation { role: self.role.clone(), fields: self.fields.clone() }
    }
}

/// What being watched did to a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeEffect {
    /// The case that was watched.
    pub case_id: String,
    /// The case that was not.
    pub twin_case_id: String,
    /// What the two have in common: the case as it would be called if nobody watched.
    pub cell: String,
    /// The instruments that watched the one and not the other.
    pub instruments: Vec<String>,
    /// The class of distance between the two CPUs.
    pub cpu_pair_class: Option<String>,
    /// Time of a message of a watched run over that of its twin in the same block: the median over blocks.
    pub slowdown: f64,
    /// The 95 % interval of that median, from order statistics; null for too few pairs.
    pub slowdown_interval: Option<[f64; 2]>,
    /// Cliff's delta of the times, watched against not: 1 where every watched run was the slower.
    pub cliffs_delta: f64,
    /// Blocks with a pair.
    pub pairs: usize,
}

/// How the command ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Footer {
    /// The number of the line, from 1 below the header; none in files of before lines were numbered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Whether every run of the plan was carried out, failed ones included, but not those that `resume` makes
    /// again.
    pub complete: bool,
    /// Samples in the file.
    pub samples: u64,
    /// Observations in the file.
    #[serde(default)]
    pub observations: Option<u64>,
    /// Failures in the file, those included whose run a later attempt made good.
    pub failures: u64,
    /// Lines that the file had lost when it was resumed; their runs were made again.
    #[serde(default)]
    pub lost_lines: u64,
    /// What being watched did to the cases that were.
    #[serde(default)]
    pub probe_effects: Vec<ProbeEffect>,
    /// How long all of it took.
    pub elapsed_ns: u64,
    /// When it ended, RFC 3339.
    pub ended: String,
}

/// The failures that no later attempt at the same run made good, or failed again.
pub fn standing(failures: Vec<FailedRun>, samples: &[Sample]) -> Vec<FailedRun> {
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
    /// The failure of `run`.
    pub fn of(run: RunIdentity, failure: Failure) -> Self {
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
