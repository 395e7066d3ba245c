//! What can become of a claim.

use serde::Serialize;

/// More repetitions than this are none that anyone would wait for: the claim cannot be settled here.
pub(super) const MOST_REPETITIONS: u64 = 3_000;

/// Why no number of repetitions that anyone would wait for settles a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Obstacle {
    /// Repetitions differ too much from one another.
    Noise,
    /// The effect is as large as the bound that it is held against.
    EffectAtBound,
    /// Consecutive blocks resemble each other, or drift, so that they are fewer than they seem.
    DependentBlocks,
}

impl Obstacle {
    const fn words(self) -> &'static str {
        match self {
            Self::Noise => {
                "it cannot be settled here: repetitions differ too much from one another (more than 3,000 \
                 would be needed)"
            }
            Self::EffectAtBound => {
                "it cannot be settled here: the effect lies at its bound (more than 3,000 repetitions would be \
                 needed)"
            }
            Self::DependentBlocks => {
                "the blocks are not independent, so that chance supports more often than the level says"
            }
        }
    }
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// What was measured supports it.
    Supported,
    /// What was measured speaks against it.
    Rejected,
    /// What was measured does not suffice.
    Inconclusive {
        /// So many repetitions would settle it, were the effect as it was seen; null where none can be told,
        /// and where there are more than 3,000.
        repetitions: Option<u64>,
        /// What stands in the way where more repetitions do not help.
        obstacle: Option<Obstacle>,
    },
    /// It cannot be measured here.
    #[serde(rename = "not testable here")]
    NotTestable {
        /// Why, and what would help.
        reason: String,
    },
}

impl Verdict {
    /// Not known, nor what would settle it.
    pub const UNKNOWN: Self = Self::Inconclusive { repetitions: None, obstacle: None };

    /// Not known: `needed` repetitions would settle it, or, where nobody would wait for them, `obstacle` is why.
    pub(super) fn open(needed: Option<u64>, obstacle: Option<Obstacle>) -> Self {
        match needed {
            Some(n) if n <= MOST_REPETITIONS => {
                Self::Inconclusive { repetitions: needed, obstacle: None }
            }
            Some(_) => Self::Inconclusive { repetitions: None, obstacle },
            None => Self::UNKNOWN,
        }
    }

    /// Its word.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Rejected => "rejected",
            Self::Inconclusive { .. } => "inconclusive",
            Self::NotTestable { .. } => "not testable here",
        }
    }

    /// Its word, and what is to be done about it.
    pub fn words(&self) -> String {
        match self.beyond() {
            Some(words) => format!("{}: {words}", self.word()),
            None => self.word().to_owned(),
        }
    }

    /// What it says beyond its word: what would settle it, or why nothing does.
    pub fn beyond(&self) -> Option<String> {
        match self {
            Self::Inconclusive { obstacle: Some(obstacle), .. } => {
                Some(obstacle.words().to_owned())
            }
            Self::Inconclusive { repetitions: Some(n), .. } => {
                Some(format!("about {n} repetitions would settle it"))
            }
            Self::NotTestable { reason } => Some(reason.clone()),
            Self::Supported | Self::Rejected | Self::Inconclusive { .. } => None,
        }
    }
}

/// How p-values are corrected where a claim has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Correction {
    /// Holm (1979).
    Holm,
    /// Benjamini and Hochberg (1995).
    BenjaminiHochberg,
    /// They are not.
    None,
}
