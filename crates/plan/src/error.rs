//! Why nothing can be planned.

use crate::factor_error::FactorError;

/// What is wrong with what was asked for, or with the machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A factor cannot be what was given.
    #[error(transparent)]
    Factor(#[from] FactorError),
    /// What was asked for makes no sense.
    #[error("{0}")]
    Usage(String),
    /// Nothing of what was asked for can run on this machine.
    #[error("nothing of what was asked can run here: {0}")]
    NothingRuns(String),
}

impl Error {
    /// That what was asked for makes no sense, in `words`.
    pub fn usage(words: impl Into<String>) -> Self {
        Self::Usage(words.into())
    }
}
