//! Judgement of a claim on one file.

use std::collections::BTreeMap;

use ipcperf_study::hypothesis::{Claim, Found};

use super::Source;

/// Judgement of a claim on one file.
pub struct Judgement {
    /// Letter of the file, if there are several.
    pub letter: Option<char>,
    /// Verdict and evidence.
    pub found: Found,
    /// Findings by the publication's own test, if the study specifies it.
    pub beside: Option<Found>,
    /// Number of excluded runs, by reason.
    pub set_aside: BTreeMap<&'static str, usize>,
}

impl Judgement {
    pub(super) fn of(claim: &Claim, source: &Source<'_>) -> Self {
        let by_its_rule = |claim: &Claim| Found::by_its_rule(claim, &source.cells);
        Self {
            letter: source.letter,
            found: Found::by(claim, &source.cells),
            beside: claim.beside().as_ref().map(by_its_rule),
            set_aside: source.cells.set_aside(&claim.selections()),
        }
    }
}
