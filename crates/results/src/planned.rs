//! The plan as it stands in the header of a results file, from which `resume` makes it again.

use std::collections::BTreeMap;

use ipcperf_model::case_id::{CaseName, NameParts, Side};
use ipcperf_model::mechanism::CaseFacts;
use ipcperf_model::{Looks, Precision, RunSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::disturbance::disturb;
use super::identity::CaseIdentity;

/// Everything that was to be run, and what was not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanRecord {
    /// Kept repetitions that each case gets; one more block comes first and is set aside.
    pub repetitions: u32,
    /// How well medians are to be known, where that decides when to stop.
    #[serde(default)]
    pub until_ci: Option<Precision>,
    /// When the claims of the study are judged while it is measured, where that decides when to stop: `repetitions`
    /// is then the number at the first look.
    #[serde(default)]
    pub until_decided: Option<Looks>,
    /// Runs made for one repetition at most, until one is undisturbed.
    #[serde(default = "one")]
    pub attempts: u32,
    /// The most a run may last, s.
    pub deadline_s: f64,
    /// The cases by name.
    pub cases: Vec<String>,
    /// What a worker is told for each of the cases, in their order; none in files of old.
    #[serde(default)]
    pub specs: Vec<SpecRecord>,
    /// Cells that could not be carried.
    pub refused: Vec<RefusedRecord>,
    /// Mechanisms that cannot be used on this machine.
    pub unavailable: Vec<UnavailableRecord>,
    /// Instruments that were asked for, and events of theirs, that cannot be had on this machine.
    #[serde(default)]
    pub unwatched: Vec<UnwatchedRecord>,
    /// The files of the plan's custom mechanisms; null where it has none.
    #[serde(default)]
    pub custom: Option<CustomRecord>,
    /// Versions of the libraries that mechanisms of the plan are made of.
    #[serde(default)]
    pub libraries: BTreeMap<String, String>,
}

/// The files of custom mechanisms as they were when the plan was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CustomRecord {
    /// The folder that relative paths in the command or the study start from; null where it had no name.
    pub folder: Option<String>,
    /// SHA-256 of each file, in hexadecimal, by the name of the mechanism; null where it could not be read.
    pub sha256: BTreeMap<String, Option<String>>,
}

const fn one() -> u32 {
    1
}

/// A case as a worker is told of it, so that `resume` can go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpecRecord {
    /// Placement, from which the CPUs were found.
    pub placement: String,
    /// The run.
    pub spec: RunSpec,
    /// Instruments that watch it.
    #[serde(default)]
    pub instruments: Vec<String>,
    /// What those of them count of which events can be chosen.
    #[serde(default)]
    pub events: BTreeMap<String, Vec<String>>,
    /// The case that is watched, where this is its undisturbed twin.
    #[serde(default)]
    pub twin_of: Option<String>,
    /// What of the name of the case the run does not say.
    #[serde(default)]
    pub name_parts: NameParts,
    /// The matrices of the study that have it.
    #[serde(default)]
    pub matrices: Vec<String>,
    /// What is known of the mechanism with these options; null in a file of old.
    #[serde(default)]
    pub facts: Option<CaseFacts>,
}

/// A cell of the matrix that could not be carried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedRecord {
    /// Which cell.
    #[serde(flatten)]
    pub case: CaseIdentity,
    /// Why.
    pub reason: String,
}

/// A mechanism that cannot be used on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnavailableRecord {
    /// Its name.
    pub mechanism: String,
    /// What is missing.
    pub reason: String,
    /// What would help.
    pub remedy: String,
}

/// An instrument, or an event of it, that cannot be had on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnwatchedRecord {
    /// The instrument's name.
    pub instrument: String,
    /// Whether it watches without the event.
    pub watches: bool,
    /// What is missing.
    pub reason: String,
    /// What would help.
    pub remedy: String,
    /// Cells that were not run, as nobody could have watched them.
    #[serde(default)]
    pub cells_left_out: usize,
    /// The matrices of the study that those are of.
    #[serde(default)]
    pub matrices: Vec<String>,
}

impl SpecRecord {
    /// What the name of the case is made of; `None` where its placement is not one.
    #[must_use]
    pub fn name(&self) -> Option<CaseName> {
        let side = if self.twin_of.is_some() { Side::Twin } else { Side::Watched };
        let placement = self.placement.parse().ok()?;
        Some(CaseName::new(&self.spec, placement, self.name_parts.clone(), side))
    }

    /// Whether an instrument that disturbs watches it.
    pub fn is_disturbed(&self) -> bool {
        disturb(&self.instruments)
    }
}
