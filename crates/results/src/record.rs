//! Objects of a results file. Their JSON Schema is generated from these types and published in
//! `docs/results.schema.json`; a test checks that the two agree.

use std::collections::HashMap;

use ipcperf_model::environment::Environment;
use ipcperf_model::hardware_limits::HardwareLimits;
use ipcperf_model::observation::Observation;
use ipcperf_model::{Failure, FailureKind, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::identity::RunIdentity;
use super::peer_record::PeerRecord;
use super::planned::PlanRecord;
use crate::sample::Sample;

/// One line of a results file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "samples are by far the most frequent lines")]
pub enum ResultsLine {
    /// The first line: the request and the machine.
    Header(Header),
    /// The measurements of one run.
    Sample(Sample),
    /// One of several peers of a role in one run.
    Peer(PeerRecord),
    /// The observations of an instrument for one role in one run.
    Observation(ObservationRecord),
    /// The reason why one run produced no measurement.
    Failure(FailedRun),
    /// The last line: how the command ended. `resume` appends lines after it and then a new footer; the last footer
    /// counts.
    Footer(Footer),
}

/// Header: the request and the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// Version of the file format.
    pub schema: u32,
    /// Arguments of the command.
    pub command: Vec<String>,
    /// Whether levels were thinned out for a quick look.
    pub quick: bool,
    /// Name of the study, if one was run; otherwise null.
    pub study: Option<String>,
    /// SHA-256 of the study file, in hexadecimal.
    pub study_hash: Option<String>,
    /// Exact text of the study file, as it was before the measurement.
    #[serde(default)]
    pub study_text: Option<String>,
    /// Hypotheses that the study was limited to; empty for all of them.
    #[serde(default)]
    pub study_only: Vec<String>,
    /// Seed that shuffled the blocks.
    pub seed: u64,
    /// Start time, RFC 3339.
    pub started: String,
    /// Plan: the cases to run, and the parts of the request that are not run.
    pub plan: PlanRecord,
    /// Environment: the machine and its state.
    pub environment: Environment,
    /// Hardware limits of the machine; null if they were not measured.
    pub limits: Option<HardwareLimits>,
}

/// Failure of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedRun {
    /// Number of the line, from 1 below the header; absent in files of versions that did not number lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Identity of the run and of its case.
    #[serde(flatten)]
    pub run: RunIdentity,
    /// Kind of failure.
    pub what: FailureKind,
    /// Role that met the failure; null if unknown.
    pub role: Option<Role>,
    /// Call or step that failed.
    #[serde(rename = "where")]
    pub place: String,
    /// Error number of the system, if there is one.
    pub errno: Option<i32>,
    /// Hint for the user.
    pub remedy: Option<String>,
    /// Whether the failure says nothing about the mechanism, so that `ipcperf resume` retries the run.
    #[serde(default)]
    pub transient: bool,
}

/// Observation of an instrument for one role in one run: common fields, followed by those of the instrument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservationRecord {
    /// Number of the line, from 1 below the header; absent in files of versions that did not number lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Name of the run.
    pub run_id: String,
    /// Name of the instrument.
    pub instrument: String,
    /// Role that is described; null for the run as a whole.
    pub role: Option<String>,
    /// Fields of the instrument.
    #[serde(flatten)]
    pub fields: serde_json::Map<String, serde_json::Value>,
}

impl ObservationRecord {
    /// Builds the record of an observation of `instrument` for the run `run_id`.
    pub fn new(run_id: &str, instrument: &str, observation: Observation) -> Self {
        let Observation { role, fields } = observation;
        let (run_id, instrument) = (run_id.to_owned(), instrument.to_owned());
        Self { seq: None, run_id, instrument, role, fields }
    }

    /// Returns the observation in the form in which the instrument reported it.
    pub fn to_observation(&self) -> Observation {
        Observation { role: self.role.clone(), fields: self.fields.clone() }
    }
}

/// Effect of the instruments on an instrumented case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeEffect {
    /// Name of the instrumented case.
    pub case_id: String,
    /// Name of its uninstrumented twin.
    pub twin_case_id: String,
    /// Name that both cases would have without instruments.
    pub cell: String,
    /// Instruments that observed the case but not its twin.
    pub instruments: Vec<String>,
    /// CPU distance class of the two CPUs.
    pub cpu_pair_class: Option<String>,
    /// Slowdown: the time of a message in an instrumented run divided by that in its twin in the same block, as the
    /// median over blocks.
    pub slowdown: f64,
    /// 95 % interval of that median, from order statistics; null for too few pairs.
    pub slowdown_interval: Option<[f64; 2]>,
    /// Cliff's delta of the times, instrumented against uninstrumented: 1 if every instrumented run was slower.
    pub cliffs_delta: f64,
    /// Number of blocks with a pair.
    pub pairs: usize,
}

/// Footer: how the command ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Footer {
    /// Number of the line, from 1 below the header; absent in files of versions that did not number lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Whether every run of the plan was carried out. Failed runs count as carried out, except those that `resume`
    /// retries.
    pub complete: bool,
    /// Number of samples in the file.
    pub samples: u64,
    /// Number of observations in the file.
    #[serde(default)]
    pub observations: Option<u64>,
    /// Number of peers in the file; absent in files of older versions.
    #[serde(default)]
    pub peers: u64,
    /// Number of failures in the file, including those that a later attempt corrected.
    pub failures: u64,
    /// Number of lines that the file had lost when it was resumed; their runs were repeated.
    #[serde(default)]
    pub lost_lines: u64,
    /// Effects of the instruments on the instrumented cases.
    #[serde(default)]
    pub probe_effects: Vec<ProbeEffect>,
    /// Total duration, ns.
    pub elapsed_ns: u64,
    /// End time, RFC 3339.
    pub ended: String,
}

/// Returns the failures that no later attempt at the same run replaced, be it a success or another failure.
pub fn final_failures(failures: Vec<FailedRun>, samples: &[Sample]) -> Vec<FailedRun> {
    if failures.is_empty() {
        return failures;
    }
    let key = |run: &RunIdentity| (run.case.case_id.clone(), run.block);
    let mut last: HashMap<(String, u32), u32> = HashMap::new();
    for failure in &failures {
        let attempt = last.entry(key(&failure.run)).or_default();
        *attempt = failure.run.attempt.max(*attempt);
    }
    // Samples are numerous, and only those of a second or later attempt are relevant.
    for sample in samples.iter().filter(|sample| sample.run.attempt > 1) {
        if let Some(attempt) = last.get_mut(&key(&sample.run)) {
            *attempt = sample.run.attempt.max(*attempt);
        }
    }
    let is_last = |failure: &FailedRun| last.get(&key(&failure.run)) == Some(&failure.run.attempt);
    failures.into_iter().filter(is_last).collect()
}

impl FailedRun {
    /// Builds the record of the failure of `run`.
    pub fn new(run: RunIdentity, failure: Failure) -> Self {
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
