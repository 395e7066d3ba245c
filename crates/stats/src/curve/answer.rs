//! Why something is no curve, and why a curve has no answer.

use thiserror::Error;

/// Why levels and blocks are no [`Curve`](super::Curve).
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CurveError {
    /// There are no levels.
    #[error("a curve needs at least one level")]
    NoLevels,
    /// A level has no logarithm.
    #[error("level {level} is not above 0 and finite")]
    Level {
        /// That level.
        level: f64,
    },
    /// The levels do not ascend.
    #[error("level {level} does not lie above the one before it")]
    Order {
        /// The level that lies too low.
        level: f64,
    },
    /// A block has more or fewer values than there are levels.
    #[error("block {block} has {found} values for {expected} levels")]
    BlockLength {
        /// The block, counted from 0.
        block: usize,
        /// The number of levels.
        expected: usize,
        /// The number of its values.
        found: usize,
    },
    /// A value is NaN or infinite. What is missing is `None`.
    #[error("the value of block {block} at level {level} is not finite")]
    NotFinite {
        /// The block, counted from 0.
        block: usize,
        /// The level.
        level: f64,
    },
}

/// Why a curve or a series has no answer to a question.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum NoAnswer {
    /// Too few levels have a value.
    #[error("{found} levels with values, but {needed} are needed")]
    TooFewLevels {
        /// Levels with values.
        found: usize,
        /// The least number that would do.
        needed: usize,
    },
    /// Too few blocks have the values that it takes.
    #[error("{found} blocks with values, but {needed} are needed")]
    TooFewBlocks {
        /// Blocks with values.
        found: usize,
        /// The least number that would do.
        needed: usize,
    },
    /// Too few values in a series.
    #[error("{found} values, but {needed} are needed")]
    TooShort {
        /// Values in the series.
        found: usize,
        /// The least number that would do.
        needed: usize,
    },
    /// A value has no logarithm, or is a divisor.
    #[error("a value at level {level} is not above 0")]
    NotPositive {
        /// Its level.
        level: f64,
    },
    /// A value handed in, or what was computed of it, is not finite.
    #[error("a value is not finite")]
    NotFinite,
    /// All values are equal, or lie on one straight line, so that there is nothing to find.
    #[error("the values do not vary")]
    NoVariation,
    /// A tolerance or a height is not above 0 and finite, or a lag is 0.
    #[error("the parameter {value} is out of range")]
    Parameter {
        /// What was asked for.
        value: f64,
    },
}

/// `value`, where it is finite.
pub(crate) fn finite(value: f64) -> Result<f64, NoAnswer> {
    if value.is_finite() { Ok(value) } else { Err(NoAnswer::NotFinite) }
}
