//! Figure of a claim, as the test that it names wants it.

use super::evidence::EstimateKind;

/// Figure of the lines that a claim is about.
#[derive(Clone, Copy, Debug)]
pub struct Picture {
    /// Lines that share a panel.
    pub together: Together,
    /// Sentence on what to look for.
    pub caption: Caption,
    /// Whether it says which direction of the metric is the better one.
    pub better: BetterNote,
}

/// Lines that share a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// All lines of the claim.
    All,
    /// The two of each pair.
    Pairs,
}

/// Sentence on what to look for in a figure.
#[derive(Clone, Copy, Debug)]
pub enum Caption {
    /// None.
    None,
    /// Always the same.
    Always(&'static str),
    /// Depends on whether an estimate was found, which is marked.
    IfFound {
        /// Kind of the estimate.
        kind: EstimateKind,
        /// Sentence where it was found.
        found: &'static str,
        /// Sentence where it was not.
        missing: &'static str,
    },
}

impl Caption {
    /// The sentence, where `is_found` says of which kinds there are estimates.
    pub fn words(self, is_found: impl Fn(EstimateKind) -> bool) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Always(words) => Some(words),
            Self::IfFound { kind, found, missing } => {
                Some(if is_found(kind) { found } else { missing })
            }
        }
    }
}

/// Whether a figure says which direction of its metric is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BetterNote {
    /// It does: the claim is about that.
    Shown,
    /// It does not.
    Hidden,
}

impl Picture {
    /// All lines in one panel on logarithmic axes, for claims about which side is the better.
    pub(super) const RATIOS: Self = Self {
        together: Together::All,
        caption: Caption::Always("Both axes are logarithmic: the same distance is the same ratio."),
        better: BetterNote::Shown,
    };
    /// All lines in one panel, for claims about where each has its peak.
    pub(super) const PEAKS: Self = Self {
        together: Together::All,
        caption: Caption::Always(
            "Dashed: where each line has its peak, chosen on the even blocks; its band is the 95 % interval.",
        ),
        better: BetterNote::Hidden,
    };
    /// All lines in one panel, for claims about whether there is a difference.
    pub(super) const DIFFERENCES: Self = Self {
        together: Together::All,
        caption: Caption::Always("Where bands lie over each other, no difference is seen."),
        better: BetterNote::Hidden,
    };
}
