//! Results file with its summaries, the input of tables, exports and reports.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use super::{
    CaseSummary, amount, counted_values, knee, peer_cost, scalability, summarize,
    wait_recommendation,
};
use crate::{PlanRecord, Results, SpecRecord};

/// Results file with its summaries.
#[derive(Clone, Debug)]
pub struct AnalyzedFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Contents of the file.
    pub results: Results,
    /// Summaries, one for each case and CPU distance class.
    pub summaries: Vec<CaseSummary>,
}

impl AnalyzedFile {
    /// Summarizes `results`, which were read from `path`.
    pub fn new(path: &Path, results: Results) -> Self {
        let plan = &results.header.plan;
        let mut summaries = summarize(
            &shown_cases(&results),
            &plan.refused,
            &results.samples,
            &results.failures,
            results.header.limits.as_ref(),
        );
        counted_values::add_counted(&mut summaries, &results);
        amount::add_amounts(&mut summaries);
        knee::add_knees(&mut summaries, &results);
        peer_cost::add_costs(&mut summaries, &results.samples);
        scalability::add_laws(&mut summaries, &results.samples);
        wait_recommendation::mark_recommended(&mut summaries);
        let mut file = Self { path: path.to_owned(), results, summaries };
        file.add_hashes();
        file
    }

    /// Returns the SHA-256 of the files of custom mechanisms, by name.
    pub(super) fn hashes(&self) -> Option<&BTreeMap<String, Option<String>>> {
        self.results.header.plan.custom.as_ref().map(|custom| &custom.sha256)
    }

    /// Sets the hash of the mechanism's file in each summary.
    pub(super) fn add_hashes(&mut self) {
        let Some(hashes) = self.hashes().cloned() else { return };
        for summary in &mut self.summaries {
            summary.mechanism_sha256 = hashes.get(&summary.case.mechanism).cloned().flatten();
        }
    }
}

/// Returns the cases whose figures are shown: those of the plan, and those that a search for the knee chose.
fn shown_cases(results: &Results) -> Vec<String> {
    let plan = &results.header.plan;
    let mut cases = uninstrumented(plan);
    if plan.knee.is_some() {
        let runs = results.samples.iter().map(|sample| &sample.run.case);
        let runs = runs.chain(results.failures.iter().map(|failure| &failure.run.case));
        let paced: BTreeSet<(&str, u64)> =
            runs.filter_map(|case| Some((case.case_id.as_str(), case.rate_per_s?))).collect();
        let mut paced: Vec<_> = paced.into_iter().collect();
        paced.sort_by_key(|(_, rate_per_s)| *rate_per_s);
        cases.extend(paced.into_iter().map(|(case, _)| case.to_owned()));
    }
    cases
}

/// Returns the cases of the plan whose figures are shown: those without instruments that disturb. If a cell has several twins,
/// because several instruments observe it, only the first one is shown.
fn uninstrumented(plan: &PlanRecord) -> Vec<String> {
    let mut cells = HashSet::new();
    let cell =
        |record: &SpecRecord| (record.placement.clone(), serde_json::to_string(&record.spec).ok());
    let is_shown = |index: &usize| {
        let Some(record) = plan.specs.get(*index) else { return true };
        !record.is_instrumented() && (record.twin_of.is_none() || cells.insert(cell(record)))
    };
    (0..plan.cases.len()).filter(is_shown).map(|index| plan.cases[index].clone()).collect()
}
