//! Judgement of a claim on one file.

use std::collections::BTreeMap;

use ipcperf_study::hypothesis::{Findings, JudgedClaim};

use super::Source;

/// Judgement of a claim on one file.
pub struct FileVerdict {
    /// Letter of the file, if there are several.
    pub letter: Option<char>,
    /// Verdict and evidence.
    pub found: Findings,
    /// Findings by the publication's own test, if the study specifies it.
    pub original_test: Option<Findings>,
    /// Look at which the claim was judged, in words, if it was judged sequentially.
    pub at_look: Option<String>,
    /// Number of excluded runs, by reason.
    pub excluded: BTreeMap<&'static str, usize>,
}

impl FileVerdict {
    /// Presents `judged`, the judgement on the file of `source`.
    pub(super) fn new(judged: JudgedClaim<'_>, source: &Source<'_>) -> Self {
        let at_look = judged.at_look.and_then(|at| at.description(&judged.findings.verdict));
        Self {
            letter: source.letter,
            excluded: source.cells.excluded_counts(&judged.claim.selections()),
            found: judged.findings,
            original_test: judged.original_findings,
            at_look,
        }
    }
}
