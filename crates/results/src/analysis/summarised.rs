//! A results file with what its samples come to: what is shown, exported and reported.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use super::{CaseSummary, amount, counted, summarise};
use crate::{PlanRecord, Results, SpecRecord};

/// A results file with what its samples come to.
#[derive(Clone, Debug)]
pub struct Summarised {
    /// The file.
    pub path: PathBuf,
    /// What is in it.
    pub results: Results,
    /// One for each case and class of CPU pair.
    pub summaries: Vec<CaseSummary>,
}

impl Summarised {
    /// What `results`, which stand at `path`, come to.
    pub fn of(path: &Path, results: Results) -> Self {
        let plan = &results.header.plan;
        let mut summaries = summarise(
            &undisturbed(plan),
            &plan.refused,
            &results.samples,
            &results.failures,
            results.header.limits.as_ref(),
        );
        counted::add(&mut summaries, &results);
        amount::tell(&mut summaries);
        let mut file = Self { path: path.to_owned(), results, summaries };
        file.add_hashes();
        file
    }

    /// SHA-256 of the files of custom mechanisms, by name.
    pub(super) fn hashes(&self) -> Option<&BTreeMap<String, Option<String>>> {
        self.results.header.plan.custom.as_ref().map(|custom| &custom.sha256)
    }

    /// Gives each summary the hash of its mechanism's file.
    pub(super) fn add_hashes(&mut self) {
        let Some(hashes) = self.hashes().cloned() else { return };
        for summary in &mut self.summaries {
            summary.mechanism_sha256 = hashes.get(&summary.case.mechanism).cloned().flatten();
        }
    }
}

/// The cases whose figures are shown: those that nothing disturbs, and of the several twins that a cell has
/// whom several instruments watch, the first.
fn undisturbed(plan: &PlanRecord) -> Vec<String> {
    let mut cells = HashSet::new();
    let cell =
        |record: &SpecRecord| (record.placement.clone(), serde_json::to_string(&record.spec).ok());
    let is_shown = |index: &usize| {
        let Some(record) = plan.specs.get(*index) else { return true };
        !record.is_disturbed() && (record.twin_of.is_none() || cells.insert(cell(record)))
    };
    (0..plan.cases.len()).filter(is_shown).map(|index| plan.cases[index].clone()).collect()
}
