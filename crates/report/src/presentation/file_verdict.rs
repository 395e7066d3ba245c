//! Judgement of a claim on one file.

use std::collections::BTreeMap;

use ipcperf_study::hypothesis::{Claim, Findings};

use super::Source;

/// Judgement of a claim on one file.
pub struct FileVerdict {
    /// Letter of the file, if there are several.
    pub letter: Option<char>,
    /// Verdict and evidence.
    pub found: Findings,
    /// Findings by the publication's own test, if the study specifies it.
    pub original_test: Option<Findings>,
    /// Number of excluded runs, by reason.
    pub excluded: BTreeMap<&'static str, usize>,
}

impl FileVerdict {
    pub(super) fn new(claim: &Claim, source: &Source<'_>) -> Self {
        let by_its_rule = |claim: &Claim| Findings::judge_unadjusted(claim, &source.cells);
        Self {
            letter: source.letter,
            found: Findings::judge(claim, &source.cells),
            original_test: claim.with_original_test().as_ref().map(by_its_rule),
            excluded: source.cells.excluded_counts(&claim.selections()),
        }
    }
}
