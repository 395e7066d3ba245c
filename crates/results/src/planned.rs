//! Plan as stored in the header of a results file; `resume` restores the plan from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use ipcperf_model::case_id::{CaseName, NameParts, NamedAmount, Side};
use ipcperf_model::knee::KneeSearch;
use ipcperf_model::mechanism::CaseFacts;
use ipcperf_model::{Looks, Precision, RunSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::identity::CaseIdentity;
use super::intrusive::is_any_intrusive;

/// Plan: the cases to run, and the parts of the request that are not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanRecord {
    /// Number of valid repetitions of each case; one more block comes first and is excluded.
    pub repetitions: u32,
    /// Precision target of medians, if it decides when to stop; otherwise null.
    #[serde(default)]
    pub until_ci: Option<Precision>,
    /// Looks at which the claims of the study are judged during the measurement, if they decide when to stop;
    /// `repetitions` is then the number at the first look. Otherwise null.
    #[serde(default)]
    pub until_decided: Option<Looks>,
    /// Maximum number of attempts for one repetition, until a run is undisturbed.
    #[serde(default = "default_attempts")]
    pub attempts: u32,
    /// Maximum duration of a run, s.
    pub timeout_s: f64,
    /// Names of the cases.
    pub cases: Vec<String>,
    /// Specifications of the cases, in the same order; empty in files of older versions.
    #[serde(default)]
    pub specs: Vec<SpecRecord>,
    /// Search for the knee of each case, whose paced runs are not among the cases; absent without a search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<KneeSearch>,
    /// Cells that exceed a limit of the mechanism, the mode or the machine.
    pub refused: Vec<RefusedRecord>,
    /// Mechanisms that are unavailable on this machine.
    pub unavailable: Vec<UnavailableRecord>,
    /// Requested instruments, or events of instruments, that are unavailable on this machine.
    #[serde(default)]
    pub unavailable_instruments: Vec<UnavailableInstrumentRecord>,
    /// Files of the custom mechanisms of the plan; null if it has none.
    #[serde(default)]
    pub custom: Option<CustomRecord>,
    /// Versions of the libraries that mechanisms of the plan use, by library.
    #[serde(default)]
    pub libraries: BTreeMap<String, String>,
}

/// Files of custom mechanisms at the time when the plan was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CustomRecord {
    /// Folder that relative paths in the command or the study refer to; null if its path is unknown.
    pub folder: Option<String>,
    /// SHA-256 of each file, in hexadecimal, by the name of the mechanism; null if the file could not be read.
    pub sha256: BTreeMap<String, Option<String>>,
}

const fn default_attempts() -> u32 {
    1
}

/// Specification of a case, from which `resume` can continue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpecRecord {
    /// Placement of the peers, from which the CPUs were determined.
    pub placement: String,
    /// Specification of the run, as a worker receives it.
    pub spec: RunSpec,
    /// Instruments that observe the case.
    #[serde(default)]
    pub instruments: Vec<String>,
    /// Chosen events by instrument, for the instruments that offer a choice.
    #[serde(default)]
    pub events: BTreeMap<String, Vec<String>>,
    /// Name of the instrumented case, if this case is its uninstrumented twin; otherwise null.
    #[serde(default)]
    pub twin_of: Option<String>,
    /// Parts of the case name that do not follow from the specification.
    #[serde(default)]
    pub name_parts: NameParts,
    /// Matrices of the study that contain the case.
    #[serde(default)]
    pub matrices: Vec<String>,
    /// Properties of the mechanism with these options; null in files of older versions.
    #[serde(default)]
    pub facts: Option<CaseFacts>,
}

/// Cell of the matrix that exceeds a limit or lacks a component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedRecord {
    /// Identity of the cell.
    #[serde(flatten)]
    pub case: CaseIdentity,
    /// Amount that the cell would have moved; null if it is not part of the name.
    #[serde(default)]
    pub amount: Option<NamedAmount>,
    /// Reason for the refusal.
    pub reason: String,
}

impl RefusedRecord {
    /// The record of `case`, with `amount` in its name.
    #[must_use]
    pub fn new(case: CaseIdentity, amount: Option<NamedAmount>, reason: String) -> Self {
        let mut record = Self { case, amount, reason };
        record.name_case();
        record
    }

    /// Gives the cell the components of its name, which are not stored in its identity.
    pub(super) fn name_case(&mut self) {
        let parts = NameParts { amount: self.amount, instruments: Vec::new() };
        let name = CaseName { cell: self.case.case_id.clone(), parts, side: Side::Instrumented };
        self.case.name = Some(Arc::new(name));
    }
}

/// Mechanism that is unavailable on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnavailableRecord {
    /// Name of the mechanism.
    pub mechanism: String,
    /// Missing component.
    pub reason: String,
    /// Remedy.
    pub remedy: String,
}

/// Instrument, or one of its events, that is unavailable on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnavailableInstrumentRecord {
    /// Name of the instrument.
    pub instrument: String,
    /// Whether the instrument works without the event.
    pub partly_available: bool,
    /// Missing component.
    pub reason: String,
    /// Remedy.
    pub remedy: String,
    /// Number of cells that were not run because no other instrument could have observed them.
    #[serde(default)]
    pub cells_left_out: usize,
    /// Matrices of the study that contain these cells.
    #[serde(default)]
    pub matrices: Vec<String>,
}

impl SpecRecord {
    /// Returns the components of the case name; `None` if the placement is invalid.
    #[must_use]
    pub fn name(&self) -> Option<CaseName> {
        let side = if self.twin_of.is_some() { Side::Twin } else { Side::Instrumented };
        let placement = self.placement.parse().ok()?;
        Some(CaseName::new(&self.spec, placement, self.name_parts.clone(), side))
    }

    /// Whether an instrument that disturbs observes the case.
    pub fn is_instrumented(&self) -> bool {
        is_any_intrusive(&self.instruments)
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::testing::{header, sample};
    use crate::{ResultsLine, parse};

    #[test]
    fn a_refused_cell_keeps_the_amount_in_its_name() {
        let case = sample("pipe", WorkloadKind::Stream, 64, 1, 1_000).run.case;
        let amount = Some(NamedAmount::Bytes(4_096));
        let refused = RefusedRecord::new(case, amount, "too large".to_owned());
        let line =
            serde_json::to_string(&ResultsLine::Header(header(Vec::new(), vec![refused]))).unwrap();
        let results = parse(format!("{line}\n").as_bytes()).unwrap();
        assert_eq!(results.header.plan.refused[0].case.amount(), amount);
    }
}
