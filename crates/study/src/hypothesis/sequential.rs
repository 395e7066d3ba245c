//! Sequential judgement during a measurement: at each look, every open claim is judged at a share of its significance
//! level.
//!
//! ```text
//! Results up to a look -> each open claim at its share of the level -> decided?
//!                                                                        |
//!                              cases that no open claim needs  <---------+
//! ```
//!
//! Judging a file repeats the same looks, so no intermediate verdicts are stored.

use std::collections::HashSet;

use ipcperf_model::Looks;
use ipcperf_results::Results;

use super::findings::Look;
use super::{Cells, Claim, JudgedClaim, Verdict};
use crate::Study;

/// Judges every claim of `study` at the `looks` that `results` reach, up to the one that decides it.
pub(super) fn judge<'a>(
    study: &'a Study,
    results: &Results,
    looks: &Looks,
) -> Vec<JudgedClaim<'a>> {
    let mut judged: Vec<Option<JudgedClaim<'a>>> = study.hypotheses.iter().map(|_| None).collect();
    for (index, seen) in reached_looks(results, looks) {
        let cells = Cells::from_results(&seen);
        for (claim, before) in study.hypotheses.iter().zip(&mut judged) {
            if before.as_ref().is_none_or(|before| !is_decided(before)) {
                *before = Some(judge_at_look(claim, &cells, looks, index));
            }
        }
    }
    // If no look is reached, there is hardly any data, and each test reports that itself.
    let cells = Cells::from_results(results);
    let all = study.hypotheses.iter().zip(judged);
    all.map(|(claim, found)| found.unwrap_or_else(|| JudgedClaim::judge(claim, claim, &cells)))
        .collect()
}

fn judge_at_look<'a>(
    claim: &'a Claim,
    cells: &Cells<'_>,
    looks: &Looks,
    index: usize,
) -> JudgedClaim<'a> {
    let level = looks.alpha_per_look(claim.alpha());
    let at_look = Look {
        look: index + 1,
        looks: looks.at_repetitions.len(),
        repetitions: looks.at_repetitions[index],
        alpha: level,
    };
    JudgedClaim {
        at_look: Some(at_look),
        ..JudgedClaim::judge(claim, &claim.with_alpha(level), cells)
    }
}

/// Whether no further look is needed. A claim that is not testable yet may be at the next look.
fn is_decided(judged: &JudgedClaim<'_>) -> bool {
    matches!(judged.findings.verdict, Verdict::Supported | Verdict::Rejected)
}

/// Returns the looks that `results` reach, each with the results measured by then.
fn reached_looks<'r>(
    results: &'r Results,
    looks: &'r Looks,
) -> impl Iterator<Item = (usize, Results)> {
    let last = results.samples.iter().map(|sample| sample.run.block).max().unwrap_or(0);
    let reached = looks.at_repetitions.iter().enumerate().filter(move |(_, at)| **at <= last);
    reached.map(|(index, &at)| (index, up_to_block(results, at)))
}

/// Returns the part of `results` measured in the first `blocks`, including the excluded first one.
pub(super) fn up_to_block(results: &Results, blocks: u32) -> Results {
    let samples: Vec<_> =
        results.samples.iter().filter(|one| one.run.block <= blocks).cloned().collect();
    let runs: HashSet<&str> = samples.iter().map(|one| one.run.run_id.as_str()).collect();
    let seen = results.observations.iter().filter(|one| runs.contains(one.run_id.as_str()));
    let observations = seen.cloned().collect();
    let failures = results.failures.iter().filter(|one| one.run.block <= blocks).cloned().collect();
    Results { samples, observations, failures, ..results.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hypothesis::test_data::{Noise, SyntheticData, simulated, study, synthetic};

    const FASTER: &str = "test = \"faster-than\"\nfirst = { mechanism = \"pipe\" }\n\
                          second = { mechanism = \"unix-stream\" }\n";

    fn up_to_thirty(made: &SyntheticData) -> Results {
        let mut results = made.results();
        results.header.plan.until_decided = Some(Looks::with_max_repetitions(30));
        results
    }

    fn judged(made: &SyntheticData) -> (Verdict, Look) {
        let study = study(FASTER);
        let judged = super::super::judge(&study, &up_to_thirty(made)).remove(0);
        (judged.findings.verdict.clone(), judged.at_look.expect("a look"))
    }

    #[test]
    fn what_is_clear_is_decided_at_the_first_look_and_by_what_was_there_then() {
        let (verdict, at) =
            judged(&synthetic(30, 0.02, &[("pipe", &[0.8; 2]), ("unix-stream", &[1.0; 2])]));
        assert_eq!((verdict, at.look, at.repetitions), (Verdict::Supported, 1, 10));
        assert!((at.alpha - 0.0125).abs() < 1e-12);
    }

    #[test]
    fn what_stays_open_is_judged_at_the_last_look_that_was_reached() {
        let noisy =
            |blocks| synthetic(blocks, 0.3, &[("pipe", &[0.99; 2]), ("unix-stream", &[1.0; 2])]);
        for (blocks, look, repetitions) in [(30, 4, 30), (17, 2, 15), (15, 2, 15), (10, 1, 10)] {
            let (verdict, at) = judged(&noisy(blocks));
            assert_eq!(verdict.name(), "inconclusive");
            assert_eq!((at.look, at.repetitions), (look, repetitions), "{blocks}");
        }
    }

    #[test]
    fn before_the_first_look_nothing_is_decided_at_one() {
        let study = study(FASTER);
        let few =
            up_to_thirty(&synthetic(9, 0.02, &[("pipe", &[0.8; 2]), ("unix-stream", &[1.0; 2])]));
        assert_eq!(super::super::judge(&study, &few)[0].at_look, None);
    }

    #[test]
    fn cases_are_left_once_no_open_claim_needs_them() {
        let lines = |ratio: f64| {
            let results = up_to_thirty(&synthetic(
                30,
                0.02,
                &[("pipe", &[ratio; 2]), ("unix-stream", &[1.0; 2]), ("fifo", &[1.0; 2])],
            ));
            let decided = crate::hypothesis::decided_cases(&study(FASTER), &results, 10);
            let mut mechanisms: Vec<String> =
                decided.iter().filter_map(|id| Some(id.split_once('/')?.0.to_owned())).collect();
            mechanisms.sort();
            mechanisms.dedup();
            mechanisms
        };
        assert_eq!(lines(0.8), ["fifo", "pipe", "unix-stream"]);
        assert_eq!(lines(0.995), ["fifo"], "only a figure needs it");
    }

    /// The false positive rate over all looks together must not exceed the level, here for two lines that are alike.
    #[test]
    fn four_looks_decide_no_more_often_wrongly_than_one() {
        const FILES: u64 = 200;
        let differs = study(
            "test = \"differs\"\nfirst = { mechanism = \"pipe\" }\nsecond = { mechanism = \"unix-stream\" }\n",
        );
        let is_wrong = |seed: &u64| {
            let lines: [(&str, &[f64]); 2] = [("pipe", &[1.0]), ("unix-stream", &[1.0])];
            let results = up_to_thirty(&simulated(*seed, 30, Noise::independent(0.05), &lines));
            super::super::judge(&differs, &results)[0].findings.verdict == Verdict::Supported
        };
        let wrong = (0..FILES).filter(is_wrong).count();
        // The expected count is 5 % of 200 = 10. With independent files, more than 20 occur once in a thousand times.
        assert!(wrong <= 20, "{wrong} of {FILES}");
    }
}
