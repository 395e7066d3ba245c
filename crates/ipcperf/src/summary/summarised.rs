//! A results file with what its samples come to: what is shown, exported and reported.

use std::path::{Path, PathBuf};

use std::collections::HashSet;

use super::{CaseSummary, amount, builds, counted, summarise};
use crate::error::Error;
use crate::output::tell;
use crate::printable::printable_line;
use crate::results::{PlanRecord, Results, SpecRecord, Strictness, read};

/// A results file with what its samples come to.
#[derive(Clone, Debug)]
pub(crate) struct Summarised {
    pub(crate) path: PathBuf,
    pub(crate) results: Results,
    /// One for each case and class of CPU pair.
    pub(crate) summaries: Vec<CaseSummary>,
}

impl Summarised {
    /// Reads the results file at `path`; tells what is not as it should be.
    ///
    /// # Errors
    /// As [`read`] has them.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        Self::read_with(path, Strictness::Lenient)
    }

    /// As [`Self::read`], with what comes of a line that cannot be read.
    ///
    /// # Errors
    /// As [`read`] has them.
    pub(crate) fn read_with(path: &Path, strictness: Strictness) -> Result<Self, Error> {
        let results = read(path, strictness)?;
        for warning in results.warnings.iter().chain(&results.end_warnings) {
            let words = format!("ipcperf: warning: {}: {warning}", path.display());
            tell(&printable_line(&words));
        }
        Ok(Self::of(path, results))
    }

    /// Reads several files, whose custom mechanisms are named apart where one name is of different files.
    ///
    /// # Errors
    /// As [`read`] has them.
    pub(crate) fn read_all(paths: &[PathBuf], strictness: Strictness) -> Result<Vec<Self>, Error> {
        let files = paths.iter().map(|path| Self::read_with(path, strictness));
        let mut files = files.collect::<Result<Vec<_>, Error>>()?;
        builds::name_apart(&mut files);
        Ok(files)
    }

    /// What `results`, which stand at `path`, come to.
    pub(crate) fn of(path: &Path, results: Results) -> Self {
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
        builds::tell(&mut file);
        file
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::machine::Environment;
    use crate::results::{Condition, End, Header, PlanRecord, RefusedRecord, SCHEMA, Sample};

    /// A file at `path` of these samples and refused cells, for tests of what is made of files.
    pub(crate) fn summarised(
        path: &str,
        samples: Vec<Sample>,
        refused: Vec<RefusedRecord>,
    ) -> Summarised {
        let mut cases: Vec<String> = Vec::new();
        for sample in &samples {
            if !cases.contains(&sample.run.case.case_id) {
                cases.push(sample.run.case.case_id.clone());
            }
        }
        let plan = PlanRecord {
            repetitions: 11,
            until_ci: None,
            until_decided: None,
            attempts: 1,
            deadline_s: 10.0,
            cases,
            specs: Vec::new(),
            refused,
            unavailable: Vec::new(),
            unwatched: Vec::new(),
            custom: None,
            libraries: std::collections::BTreeMap::new(),
        };
        let header = Header {
            schema: SCHEMA,
            command: Vec::new(),
            quick: false,
            study: None,
            study_hash: None,
            study_text: None,
            study_only: Vec::new(),
            seed: 1,
            started: "2026-11-20T10:00:00Z".to_owned(),
            plan,
            environment: Environment::default(),
            limits: None,
        };
        let results = Results {
            header,
            samples,
            observations: Vec::new(),
            failures: Vec::new(),
            footer: None,
            end: End::Closed,
            warnings: Vec::new(),
            end_warnings: Vec::new(),
            condition: Condition::default(),
        };
        Summarised::of(Path::new(path), results)
    }
}
