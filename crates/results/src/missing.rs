//! Which runs of a plan have no line.

use std::collections::HashSet;

use super::order::Sorted;
use super::planned::PlanRecord;
use crate::identity::RunIdentity;

/// Runs of the plan without a line.
#[derive(Debug, Default)]
pub(super) struct Missing {
    pub(super) count: u64,
    /// How many the plan has.
    pub(super) planned: u64,
    /// The first of them, case and block.
    pub(super) some: Vec<(String, u32)>,
}

/// As many are named.
const MOST_NAMED: usize = 3;

/// The runs of `plan` that every case has and that have no line in `sorted`. Each has one first attempt: where there
/// are `first_attempts` of as many as there are runs, none is missing.
pub(super) fn runs(plan: &PlanRecord, sorted: &Sorted, first_attempts: u64) -> Missing {
    let mut seen = HashSet::new();
    let cases: Vec<&str> =
        plan.cases.iter().map(String::as_str).filter(|case| seen.insert(*case)).collect();
    let planned = (cases.len() as u64).saturating_mul(u64::from(plan.repetitions) + 1);
    // Copies of lines count among the attempts, so they are only trusted where there are none.
    if sorted.duplicates == 0 && first_attempts == planned {
        return Missing { planned, ..Missing::default() };
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
    // Never more steps than there are lines, and some.
    let wanted = usize::try_from(count).unwrap_or(usize::MAX).min(MOST_NAMED);
    let some = all.filter(|run| !there.contains(run)).take(wanted);
    Missing { count, planned, some: some.map(|(case, block)| (case.to_owned(), block)).collect() }
}
