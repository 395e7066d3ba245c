//! Ratio of two quantities, with its interval.

use crate::{
    degenerate::{Degenerate, check_count, check_pairs, check_probability},
    description::{check_positive, log_ratio},
    moments::{Moments, TwoSamples, as_f64},
    spread::median,
    student::{Studentized, critical_value, studentize_unequal},
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
pub fn paired_ratio(first: &[f64], second: &[f64], level: f64) -> Result<Ratio, Degenerate> {
    let tail = (1.0 - check_probability(level)?) / 2.0;
    check_pairs(first, second)?;
    check_positive(first)?;
    check_positive(second)?;
    check_count(first, 2)?;
    let ratios = first.iter().zip(second).map(|(&first, &second)| log_ratio(first, second));
    let moments = Moments::from_values(&ratios.collect::<Vec<f64>>());
    ratio_interval(
        moments.mean,
        moments.standard_error() * critical_value(tail, as_f64(first.len() - 1)),
    )
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
    level: f64,
) -> Result<Ratio, Degenerate> {
    let tail = (1.0 - check_probability(level)?) / 2.0;
    check_count(first, 2)?;
    check_count(second, 2)?;
    check_positive(first)?;
    check_positive(second)?;
    // Relative to one of the values, which cancels.
    let over = |values: &[f64]| -> Vec<f64> {
        values.iter().map(|&value| log_ratio(value, first[0])).collect()
    };
    let (first, second) = (over(first), over(second));
    let Studentized { difference: apart, standard_error: error, degrees, .. } =
        studentize_unequal(&TwoSamples::from_scaled(&first, &second))?;
    ratio_interval(apart, error * critical_value(tail, degrees))
}

/// Ratio of the medians, `first` over `second`. For an interval, resample.
///
/// # Errors
///
/// Returns an error for an empty set, a value that is not finite, a median of 0 or below, or a result that does not fit
/// into a double.
pub fn ratio_of_medians(first: &[f64], second: &[f64]) -> Result<f64, Degenerate> {
    check_count(first, 1)?;
    check_count(second, 1)?;
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
fn ratio_interval(middle: f64, reach: f64) -> Result<Ratio, Degenerate> {
    let end = |logarithm: f64| Some(logarithm.exp()).filter(|end| end.is_finite());
    let (low, high) = (end(middle - reach), end(middle + reach));
    Ok(Ratio { ratio: representable(middle.exp())?, low, high })
}
