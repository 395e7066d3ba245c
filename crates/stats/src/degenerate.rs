//! Why a statistic says nothing.

use std::fmt;

/// Why a test or an effect has no value. Nothing in this crate answers with NaN instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Degenerate {
    /// Fewer values than the formula needs.
    TooFew {
        /// How many there are.
        given: usize,
        /// How many it takes.
        needed: usize,
    },
    /// More values than the exact distribution is computed for.
    TooMany {
        /// How many there are: values, or pairs of one value from either set.
        given: usize,
        /// How many are the most.
        most: usize,
    },
    /// A value, a bound or an effect is NaN or infinite.
    NotFinite,
    /// What should be pairs has two lengths.
    LengthsDiffer {
        /// Length of the first.
        first: usize,
        /// Length of the second.
        second: usize,
    },
    /// Every difference is 0.
    AllZero,
    /// All values are equal, where the statistic divides by their spread.
    NoSpread,
    /// Values are equal to each other, where the distribution asked for knows no ties.
    Tied,
    /// A value is 0 or below, where logarithms are taken.
    NotPositive,
    /// A level or a p-value lies outside 0 to 1.
    NotAProbability,
    /// The lower bound is not below the upper.
    BoundsReversed,
    /// The result is too large or too small for a double.
    OutOfRange,
    /// No number of values reaches the power asked for.
    Unreachable,
}

impl fmt::Display for Degenerate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { given, needed } => {
                write!(f, "too few values: {given}, where it takes {needed}")
            }
            Self::TooMany { given, most } => {
                write!(f, "{given} are too many for the exact distribution, which goes to {most}")
            }
            Self::NotFinite => f.write_str("a value is not a finite number"),
            Self::LengthsDiffer { first, second } => {
                write!(f, "no pairs: {first} values and {second}")
            }
            Self::AllZero => f.write_str("all differences are 0"),
            Self::NoSpread => f.write_str("the values do not differ"),
            Self::Tied => f.write_str("values are tied, and the exact distribution knows no ties"),
            Self::NotPositive => f.write_str("a value is not above 0 and has no logarithm"),
            Self::NotAProbability => f.write_str("a probability lies outside 0 to 1"),
            Self::BoundsReversed => f.write_str("the lower bound is not below the upper"),
            Self::OutOfRange => f.write_str("the result does not fit into a double"),
            Self::Unreachable => f.write_str("no number of values reaches this power"),
        }
    }
}

impl std::error::Error for Degenerate {}

/// Nothing, or that a value is not finite.
pub(crate) fn finite(values: &[f64]) -> Result<(), Degenerate> {
    values.iter().all(|value| value.is_finite()).then_some(()).ok_or(Degenerate::NotFinite)
}

/// Nothing, or that there are fewer than `needed` values.
pub(crate) fn enough(values: &[f64], needed: usize) -> Result<(), Degenerate> {
    let given = values.len();
    if given < needed { Err(Degenerate::TooFew { given, needed }) } else { Ok(()) }
}

/// Nothing, or that the two make no pairs.
pub(crate) fn pairs(first: &[f64], second: &[f64]) -> Result<(), Degenerate> {
    let (first, second) = (first.len(), second.len());
    if first == second { Ok(()) } else { Err(Degenerate::LengthsDiffer { first, second }) }
}

/// `value`, or that it does not fit into a double.
pub(crate) fn in_range(value: f64) -> Result<f64, Degenerate> {
    value.is_finite().then_some(value).ok_or(Degenerate::OutOfRange)
}

/// `level`, or that it is not between 0 and 1, both left out.
pub(crate) fn level(level: f64) -> Result<f64, Degenerate> {
    (level > 0.0 && level < 1.0).then_some(level).ok_or(Degenerate::NotAProbability)
}
