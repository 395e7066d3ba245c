//! Finds the runs of a plan that have no line.

use std::collections::HashSet;

use super::line_checker::CheckedLines;
use super::planned::PlanRecord;
use crate::identity::RunIdentity;

/// Runs of the plan that have no line.
#[derive(Debug, Default)]
pub(super) struct MissingRuns {
    pub(super) count: u64,
    /// Number of runs in the plan.
    pub(super) planned: u64,
    /// Case and block of the first missing runs.
    pub(super) examples: Vec<(String, u32)>,
}

/// Maximum number of missing runs that are named.
const MAX_NAMED: usize = 3;

/// Returns the runs that `plan` has for every case and that have no line in `sorted`. Each run has exactly one
/// first attempt, so if there are as many `first_attempts` as planned runs, none is missing.
pub(super) fn find_missing(
    plan: &PlanRecord,
    sorted: &CheckedLines,
    first_attempts: u64,
) -> MissingRuns {
    let mut seen = HashSet::new();
    let cases: Vec<&str> =
        plan.cases.iter().map(String::as_str).filter(|case| seen.insert(*case)).collect();
    let planned = (cases.len() as u64).saturating_mul(u64::from(plan.repetitions) + 1);
    // Duplicated lines count as attempts too, so the number is trusted only if there are none.
    if sorted.duplicates == 0 && first_attempts == planned {
        return MissingRuns { planned, ..MissingRuns::default() };
    }
    let runs = sorted.samples.iter().map(|sample| &sample.run);
    let runs = runs.chain(sorted.failures.iter().map(|failure| &failure.run));
    let is_planned = |run: &&RunIdentity| {
        run.block <= plan.repetitions && seen.contains(run.case.case_id.as_str())
    };
    let there: HashSet<(&str, u32)> =
        runs.filter(is_planned).map(|run| (run.case.case_id.as_str(), run.block)).collect();
    let all = (0..=plan.repetitions).flat_map(|block| cases.iter().map(move |case| (*case, block)));
    let count = planned.saturating_sub(there.len() as u64);
    // The iteration takes few more steps than there are lines.
    let wanted = usize::try_from(count).unwrap_or(usize::MAX).min(MAX_NAMED);
    let some = all.filter(|run| !there.contains(run)).take(wanted);
    MissingRuns {
        count,
        planned,
        examples: some.map(|(case, block)| (case.to_owned(), block)).collect(),
    }
}
