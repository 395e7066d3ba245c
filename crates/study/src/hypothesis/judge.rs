//! Judgement of a study, either on complete results or sequentially as during the measurement.

use std::collections::HashSet;

use ipcperf_results::Results;

use super::sequential::{self, up_to_block};
use super::{Cells, Claim, JudgedClaim, Verdict};
use crate::Study;

/// Judges every claim of `study` on `results`. Results that were measured until claims were decided are judged look by
/// look.
pub fn judge<'a>(study: &'a Study, results: &Results) -> Vec<JudgedClaim<'a>> {
    if let Some(looks) = &results.header.plan.until_decided {
        return sequential::judge(study, results, looks);
    }
    let cells = Cells::from_results(results);
    study.hypotheses.iter().map(|claim| JudgedClaim::judge(claim, claim, &cells)).collect()
}

/// Whether more repetitions may decide the claim.
fn is_inconclusive(judged: &JudgedClaim<'_>) -> bool {
    matches!(judged.findings.verdict, Verdict::Inconclusive { .. })
}

/// Returns the cases of `results` that no open claim of `study` needs, judging only the first `repetitions`.
pub fn decided_cases(study: &Study, results: &Results, repetitions: u32) -> HashSet<String> {
    let partial = up_to_block(results, repetitions);
    let judged = judge(study, &partial);
    let open = judged.iter().filter(|one| is_inconclusive(one)).map(|one| one.claim);
    let needed: Vec<_> = open.flat_map(Claim::selections).collect();
    let cells = Cells::from_results(&partial);
    let is_needed = |sample| needed.iter().any(|selection| cells.contains(selection, sample));
    let decided = partial.samples.iter().filter(|sample| !is_needed(sample));
    decided.map(|sample| sample.run.case.case_id.clone()).collect()
}
