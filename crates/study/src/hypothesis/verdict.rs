//! Verdicts: supported, rejected, inconclusive or not testable here.

use serde::Serialize;

/// Number of repetitions above which a claim counts as impossible to settle here.
pub(super) const MAX_REPETITIONS: u64 = 3_000;

/// Reason why no practical number of repetitions settles a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Obstacle {
    /// Repetitions differ too much from one another.
    Noise,
    /// The effect is about as large as the bound that it is compared with.
    EffectAtBound,
    /// Consecutive blocks are correlated or drift, so the effective number of blocks is smaller.
    DependentBlocks,
}

impl Obstacle {
    const fn description(self) -> &'static str {
        match self {
            Self::Noise => {
                "it cannot be decided here: the repetitions vary too much (more than 3,000 would be needed)"
            }
            Self::EffectAtBound => {
                "it cannot be decided here: the effect is too close to its bound (more than 3,000 repetitions would be \
                 needed)"
            }
            Self::DependentBlocks => {
                "the blocks are not independent, so a false claim would be supported with a probability above alpha"
            }
        }
    }
}

/// The verdict that the measured values of an undecided part point to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tendency {
    /// Unknown, or towards support.
    Open,
    /// Towards rejection: the value lies outside the bounds.
    Rejection,
}

/// Verdict on a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// The measurements support it.
    Supported,
    /// The measurements contradict it.
    Rejected,
    /// The measurements do not suffice.
    Inconclusive {
        /// Repetitions that would settle it if the true effect equals the observed one. Null if unknown or more than
        /// 3,000.
        repetitions: Option<u64>,
        /// Obstacle that more repetitions do not overcome.
        obstacle: Option<Obstacle>,
        /// The verdict that the values point to. Decides which of several parts would settle a claim first.
        #[serde(skip)]
        tendency: Tendency,
    },
    /// It cannot be measured here.
    #[serde(rename = "not testable here")]
    NotTestable {
        /// The reason and the remedy.
        reason: String,
    },
}

impl Verdict {
    /// Inconclusive, with nothing known about what would settle it.
    pub const UNKNOWN: Self =
        Self::Inconclusive { repetitions: None, obstacle: None, tendency: Tendency::Open };

    /// Returns an inconclusive verdict: `needed` repetitions would settle it, or, if these are too many, `obstacle` is
    /// the reason.
    pub(super) fn inconclusive(needed: Option<u64>, obstacle: Option<Obstacle>) -> Self {
        let tendency = Tendency::Open;
        match needed {
            Some(n) if n <= MAX_REPETITIONS => {
                Self::Inconclusive { repetitions: needed, obstacle: None, tendency }
            }
            Some(_) => Self::Inconclusive { repetitions: None, obstacle, tendency },
            None => Self::UNKNOWN,
        }
    }

    /// Returns an inconclusive verdict with its tendency replaced; other verdicts are returned as they are.
    pub(super) fn with_tendency(self, tendency: Tendency) -> Self {
        match self {
            Self::Inconclusive { repetitions, obstacle, .. } => {
                Self::Inconclusive { repetitions, obstacle, tendency }
            }
            other => other,
        }
    }

    /// Returns the verdict as a word.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Rejected => "rejected",
            Self::Inconclusive { .. } => "inconclusive",
            Self::NotTestable { .. } => "not testable here",
        }
    }

    /// Returns the verdict with its explanation.
    pub fn description(&self) -> String {
        match self.explanation() {
            Some(words) => format!("{}: {words}", self.name()),
            None => self.name().to_owned(),
        }
    }

    /// Returns the explanation: what would settle it, or why nothing does.
    pub fn explanation(&self) -> Option<String> {
        match self {
            Self::Inconclusive { obstacle: Some(obstacle), .. } => {
                Some(obstacle.description().to_owned())
            }
            Self::Inconclusive { repetitions: Some(n), .. } => {
                Some(format!("about {n} repetitions would decide it"))
            }
            Self::NotTestable { reason } => Some(reason.clone()),
            Self::Supported | Self::Rejected | Self::Inconclusive { .. } => None,
        }
    }
}
