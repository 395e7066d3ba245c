//! Reasons why a statistic has no value.

use std::fmt;

/// Reason why a test or an effect has no value. No function of this crate returns NaN instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Degenerate {
    /// Fewer values than the formula needs.
    TooFew {
        /// Number of values.
        given: usize,
        /// Minimum number of values.
        needed: usize,
    },
    /// More values than the exact distribution is computed for.
    TooMany {
        /// Number of values, or of pairs of one value from each set.
        given: usize,
        /// Maximum number.
        max: usize,
    },
    /// A value, a bound or an effect is NaN or infinite.
    NotFinite,
    /// The two sides of a paired statistic have different lengths.
    LengthsDiffer {
        /// Length of the first.
        first: usize,
        /// Length of the second.
        second: usize,
    },
    /// Every difference is 0.
    AllZero,
    /// All values are equal, but the statistic divides by their spread.
    NoSpread,
    /// Values are tied, but the requested distribution allows no ties.
    Tied,
    /// A value whose logarithm is taken is 0 or below.
    NotPositive,
    /// A level or a p-value lies outside 0 to 1.
    NotAProbability,
    /// The lower bound is not below the upper.
    BoundsReversed,
    /// The result is too large or too small for a double.
    OutOfRange,
    /// No number of values reaches the requested power.
    Unreachable,
}

impl fmt::Display for Degenerate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { given, needed } => {
                write!(f, "too few values: {given}; at least {needed} are needed")
            }
            Self::TooMany { given, max: most } => {
                write!(
                    f,
                    "{given} values are too many for the exact distribution; the maximum is {most}"
                )
            }
            Self::NotFinite => f.write_str("a value is not a finite number"),
            Self::LengthsDiffer { first, second } => {
                write!(f, "values cannot be paired: {first} and {second} values")
            }
            Self::AllZero => f.write_str("all differences are 0"),
            Self::NoSpread => f.write_str("the values do not differ"),
            Self::Tied => {
                f.write_str("values are tied; the exact distribution requires distinct values")
            }
            Self::NotPositive => f.write_str("a value is not above 0 and has no logarithm"),
            Self::NotAProbability => f.write_str("a probability is outside 0 to 1"),
            Self::BoundsReversed => f.write_str("the lower bound is not below the upper"),
            Self::OutOfRange => f.write_str("the result does not fit into a double"),
            Self::Unreachable => f.write_str("no number of values is enough for this power"),
        }
    }
}

impl std::error::Error for Degenerate {}

/// Checks that all values are finite.
pub(crate) fn check_finite(values: &[f64]) -> Result<(), Degenerate> {
    values.iter().all(|value| value.is_finite()).then_some(()).ok_or(Degenerate::NotFinite)
}

/// Checks that there are at least `needed` values.
pub(crate) fn check_count(values: &[f64], needed: usize) -> Result<(), Degenerate> {
    let given = values.len();
    if given < needed { Err(Degenerate::TooFew { given, needed }) } else { Ok(()) }
}

/// Checks that the two sets have equal lengths, and so form pairs.
pub(crate) fn check_pairs(first: &[f64], second: &[f64]) -> Result<(), Degenerate> {
    let (first, second) = (first.len(), second.len());
    if first == second { Ok(()) } else { Err(Degenerate::LengthsDiffer { first, second }) }
}

/// Returns `value` if it fits into a double.
pub(crate) fn check_range(value: f64) -> Result<f64, Degenerate> {
    value.is_finite().then_some(value).ok_or(Degenerate::OutOfRange)
}

/// Returns `check_probability` if it is above 0 and below 1.
pub(crate) fn check_probability(level: f64) -> Result<f64, Degenerate> {
    (level > 0.0 && level < 1.0).then_some(level).ok_or(Degenerate::NotAProbability)
}
