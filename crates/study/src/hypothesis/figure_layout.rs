//! Layout of the figure for a claim, as defined by its test.

use super::evidence::EstimateKind;
use crate::Metric;

/// Layout of a figure that shows the lines of a claim.
#[derive(Clone, Copy, Debug)]
pub struct FigureLayout {
    /// Lines that share a panel.
    pub panels: PanelGrouping,
    /// Caption: the feature to look for.
    pub caption: Caption,
    /// Whether it states which direction of the metric is better.
    pub better: BetterNote,
}

/// Lines that share a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelGrouping {
    /// All lines of the claim.
    All,
    /// The two lines of each pair.
    Pairs,
}

/// Caption of a figure: the feature to look for.
#[derive(Clone, Copy, Debug)]
pub enum Caption {
    /// No caption.
    None,
    /// A fixed caption.
    Always(&'static str),
    /// A caption that depends on whether an estimate, which is marked in the figure, was found.
    IfFound {
        /// Kind of the estimate.
        kind: EstimateKind,
        /// Caption if it was found.
        found: &'static str,
        /// Caption if it was not found.
        missing: &'static str,
    },
}

impl Caption {
    /// Returns the caption. `is_found` returns whether there is an estimate of a kind.
    pub fn text(self, is_found: impl Fn(EstimateKind) -> bool) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Always(words) => Some(words),
            Self::IfFound { kind, found, missing } => {
                Some(if is_found(kind) { found } else { missing })
            }
        }
    }
}

/// Whether a figure states which direction of its metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BetterNote {
    /// Stated, because the claim depends on it.
    Shown,
    /// Not stated.
    Hidden,
}

/// Values of keys that the figure for a claim shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct FigureKeys<'k> {
    /// Metric that is the whole, if shares of it are shown.
    pub whole: Option<&'k Metric>,
    /// Minimum share that is claimed.
    pub share: Option<f64>,
    /// Level from which on it is claimed.
    pub from: Option<f64>,
}

impl FigureLayout {
    /// All lines in one panel on logarithmic axes, for claims about which side is better.
    pub(super) const RATIOS: Self = Self {
        panels: PanelGrouping::All,
        caption: Caption::Always("Both axes are logarithmic: equal distances are equal ratios."),
        better: BetterNote::Shown,
    };
    /// All lines in one panel, for claims about the location of peaks.
    pub(super) const PEAKS: Self = Self {
        panels: PanelGrouping::All,
        caption: Caption::Always(
            "Dashed: the peak of each line, selected on every second block; the band is the 95 % interval.",
        ),
        better: BetterNote::Hidden,
    };
    /// All lines in one panel, for claims about whether there is a difference.
    pub(super) const DIFFERENCES: Self = Self {
        panels: PanelGrouping::All,
        caption: Caption::Always("Where bands overlap, no difference is visible."),
        better: BetterNote::Hidden,
    };
}
