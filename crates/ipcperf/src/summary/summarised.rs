//! A results file with what its samples come to: what is shown, exported and reported.

use std::path::{Path, PathBuf};

use super::{CaseSummary, summarise};
use crate::error::Error;
use crate::output::tell;
use crate::results::{Results, read};

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
        let results = read(path)?;
        for warning in &results.warnings {
            tell(&format!("ipcperf: warning: {}: {warning}", path.display()));
        }
        Ok(Self::of(path, results))
    }

    /// What `results`, which stand at `path`, come to.
    pub(crate) fn of(path: &Path, results: Results) -> Self {
        let plan = &results.header.plan;
        let summaries = summarise(
            &plan.cases,
            &plan.refused,
            &results.samples,
            &results.failures,
            results.header.limits.as_ref(),
        );
        Self { path: path.to_owned(), results, summaries }
    }
}
