//! Ratio of two quantities, with its interval.

use crate::{
    degenerate::{Degenerate, enough, level, pairs},
    description::{log_ratio, positive},
    moments::{Moments, Two, count},
    spread::median,
    student::{Studentized, critical, of_unequal},
};

/// A ratio, dimensionless.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// First over second.
    pub ratio: f64,
    /// Lower end of its interval at the requested level. `None` if it does not fit into a double.
    pub low: Option<f64>,
    /// Upper end. `None` if it does not fit into a double, which can happen with two pairs of very different ratios.
    pub high: Option<f64>,
}

/// Ratio of the geometric means of pairs, `first` over `second`, which is the geometric mean of their ratios. The
/// interval is that of Student's t on the logarithms of the ratios, with n - 1 degrees of freedom (Fleming and Wallace
/// 1986, *How Not to Lie with Statistics*, Communications of the ACM 29, for the mean).
///
/// # Errors
///
/// Returns an error for different lengths, fewer than two pairs, a value that is not finite or not above 0, a level
/// outside 0 to 1, or a result that does not fit into a double.
pub fn paired_ratio(first: &[f64], second: &[f64], share: f64) -> Result<Ratio, Degenerate> {
    let tail = (1.0 - level(share)?) / 2.0;
    pairs(first, second)?;
    positive(first)?;
    positive(second)?;
    enough(first, 2)?;
    let ratios = first.iter().zip(second).map(|(&first, &second)| log_ratio(first, second));
    let moments = Moments::of(&ratios.collect::<Vec<f64>>());
    around(moments.mean, moments.error() * critical(tail, count(first.len() - 1)))
}

/// Ratio of the geometric means of independent sets, `first` over `second`. The interval is that of Welch's t on the
/// logarithms.
///
/// # Errors
///
/// Returns an error for fewer than two values in a set, one that is not finite or not above 0, a level outside 0 to 1,
/// no spread within either set, or a result that does not fit into a double.
pub fn ratio_of_geometric_means(
    first: &[f64],
    second: &[f64],
    share: f64,
) -> Result<Ratio, Degenerate> {
    let tail = (1.0 - level(share)?) / 2.0;
    enough(first, 2)?;
    enough(second, 2)?;
    positive(first)?;
    positive(second)?;
    // Relative to one of the values, which cancels.
    let over = |values: &[f64]| -> Vec<f64> {
        values.iter().map(|&value| log_ratio(value, first[0])).collect()
    };
    let (first, second) = (over(first), over(second));
    let Studentized { apart, error, degrees, .. } = of_unequal(&Two::as_they_are(&first, &second))?;
    around(apart, error * critical(tail, degrees))
}

/// Ratio of the medians, `first` over `second`. For an interval, resample.
///
/// # Errors
///
/// Returns an error for an empty set, a value that is not finite, a median of 0 or below, or a result that does not fit
/// into a double.
pub fn ratio_of_medians(first: &[f64], second: &[f64]) -> Result<f64, Degenerate> {
    enough(first, 1)?;
    enough(second, 1)?;
    let middle = |values| median(values).ok_or(Degenerate::NotFinite);
    let (first, second) = (middle(first)?, middle(second)?);
    if first <= 0.0 || second <= 0.0 {
        return Err(Degenerate::NotPositive);
    }
    representable(first / second)
}

/// Returns `ratio` unless it underflowed to 0 or overflowed to infinity.
fn representable(ratio: f64) -> Result<f64, Degenerate> {
    (ratio > 0.0 && ratio.is_finite()).then_some(ratio).ok_or(Degenerate::OutOfRange)
}

/// Converts logarithms back to ratios. A lower end too small for a double becomes 0, which is a valid lower bound.
fn around(middle: f64, reach: f64) -> Result<Ratio, Degenerate> {
    let end = |logarithm: f64| Some(logarithm.exp()).filter(|end| end.is_finite());
    let (low, high) = (end(middle - reach), end(middle + reach));
    Ok(Ratio { ratio: representable(middle.exp())?, low, high })
}
