//! Errors that prevent a plan.

use crate::factor_error::FactorError;

/// Error in the request, or a deficiency of the machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A factor has an invalid value.
    #[error(transparent)]
    Factor(#[from] FactorError),
    /// The request makes no sense.
    #[error("{0}")]
    Usage(String),
    /// None of the requested cases can run on this machine.
    #[error("none of the requested cases can run here: {0}")]
    NothingRuns(String),
}

impl Error {
    /// Returns a usage error with the message `words`.
    pub fn usage(words: impl Into<String>) -> Self {
        Self::Usage(words.into())
    }
}
