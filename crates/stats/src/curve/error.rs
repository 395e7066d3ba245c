//! Errors of constructing and analyzing curves.

use thiserror::Error;

/// Reason why levels and blocks do not form a [`Curve`](super::Curve).
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CurveError {
    /// A curve without levels.
    #[error("a curve needs at least one level")]
    NoLevels,
    /// A level is not above 0 and finite, and so has no logarithm.
    #[error("level {level} is not above 0 and finite")]
    Level {
        /// The invalid level.
        level: f64,
    },
    /// The levels do not ascend.
    #[error("level {level} is not above the previous level")]
    Order {
        /// The level that is too low.
        level: f64,
    },
    /// A block has more or fewer values than there are levels.
    #[error("block {block} has {found} values for {expected} levels")]
    BlockLength {
        /// Index of the block, counted from 0.
        block: usize,
        /// Number of levels.
        expected: usize,
        /// Number of values in the block.
        found: usize,
    },
    /// A value is NaN or infinite. Missing values are `None`.
    #[error("the value of block {block} at level {level} is not finite")]
    NotFinite {
        /// Index of the block, counted from 0.
        block: usize,
        /// Level of the value.
        level: f64,
    },
}

/// Reason why a statistic of a curve or a series has no value.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CurveStatisticError {
    /// Too few levels have a value.
    #[error("{found} levels with values, but {needed} are needed")]
    TooFewLevels {
        /// Number of levels with values.
        found: usize,
        /// Minimum number of levels.
        needed: usize,
    },
    /// Too few blocks have the necessary values.
    #[error("{found} blocks with values, but {needed} are needed")]
    TooFewBlocks {
        /// Number of blocks with values.
        found: usize,
        /// Minimum number of blocks.
        needed: usize,
    },
    /// A series has too few values.
    #[error("{found} values, but {needed} are needed")]
    TooShort {
        /// Number of values in the series.
        found: usize,
        /// Minimum number of values.
        needed: usize,
    },
    /// A value whose logarithm is taken, or which is a divisor, is not positive.
    #[error("a value at level {level} is not above 0")]
    NotPositive {
        /// Level of the value.
        level: f64,
    },
    /// An input value, or a result computed from the values, is not finite.
    #[error("a value is not finite")]
    NotFinite,
    /// All values are equal, or lie on one straight line, so that the statistic is undefined.
    #[error("the values do not vary")]
    NoVariation,
    /// A tolerance or a height is not above 0 and finite, or a lag is 0.
    #[error("the parameter {value} is out of range")]
    Parameter {
        /// Value of the parameter.
        value: f64,
    },
}

/// Returns `value` if it is finite.
pub(crate) fn check_finite(value: f64) -> Result<f64, CurveStatisticError> {
    if value.is_finite() { Ok(value) } else { Err(CurveStatisticError::NotFinite) }
}
