//! Descriptive statistics of one set of values.

use crate::{
    bootstrap::Interval,
    degenerate::{Degenerate, check_count, check_finite, check_probability, check_range},
    moments::{Moments, Scale, as_f64, mean},
    quantile::{ascending, quantile},
    spread::median_absolute_deviation,
    student::critical_value,
};

/// Descriptive statistics of a set of values, in their unit unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Description {
    /// Number of values.
    pub n: usize,
    /// Minimum.
    pub min: f64,
    /// Maximum.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation, with n - 1. `None` for one value.
    pub standard_deviation: Option<f64>,
    /// Coefficient of variation, standard deviation over mean, dimensionless. `None` for one value, a mean of 0, or if
    /// it does not fit into a double.
    pub coefficient_of_variation: Option<f64>,
    /// Geometric mean. `None` if a value is 0 or below.
    pub geometric_mean: Option<f64>,
    /// First quartile, of type 7 like the median and the third quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// Distance between the quartiles.
    pub interquartile_range: f64,
    /// Half the interquartile range, SIQR (Jain 1991, *The Art of Computer Systems Performance Analysis*, 12.8).
    pub semi_interquartile_range: f64,
    /// Median absolute deviation from the median, not scaled.
    pub median_absolute_deviation: f64,
}

/// Largest exponent for which both e to its power and e to its negative fit into a double, with a margin.
const MAX_EXPONENT: f64 = 700.0;

/// Computes descriptive statistics of `values`.
///
/// # Errors
///
/// Returns an error for no values, one that is not finite, or a range that does not fit into a double.
pub fn describe(values: &[f64]) -> Result<Description, Degenerate> {
    check_count(values, 1)?;
    check_finite(values)?;
    let sorted = ascending(values).ok_or(Degenerate::NotFinite)?;
    let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
    check_range(max - min)?;
    let at = |p: f64| quantile(&sorted, p).ok_or(Degenerate::NotFinite);
    let (q1, q3) = (at(0.25)?, at(0.75)?);
    let scale = Scale::from_sets(&[values]);
    let moments = Moments::from_values(&scale.down_all(values));
    let deviation = (values.len() > 1).then(|| moments.variance().sqrt());
    let variation = deviation.map(|deviation| deviation / moments.mean);
    Ok(Description {
        n: values.len(),
        min,
        max,
        mean: scale.up(moments.mean),
        standard_deviation: deviation.map(|deviation| scale.up(deviation)),
        coefficient_of_variation: variation.filter(|variation| variation.is_finite()),
        geometric_mean: geometric_mean(values).ok(),
        q1,
        median: at(0.5)?,
        q3,
        interquartile_range: q3 - q1,
        semi_interquartile_range: (q3 - q1) / 2.0,
        median_absolute_deviation: median_absolute_deviation(values)
            .ok_or(Degenerate::NotFinite)?,
    })
}

/// Interval of the mean of `values` by Student's t (Student 1908, *The Probable Error of a Mean*, Biometrika 6), of
/// level `level`, in their unit.
///
/// # Errors
///
/// Returns an error for fewer than two values, one that is not finite, a level outside 0 to 1, or a result that does
/// not fit into a double.
pub fn mean_interval(values: &[f64], level: f64) -> Result<Interval, Degenerate> {
    let tail = (1.0 - check_probability(level)?) / 2.0;
    check_count(values, 2)?;
    check_finite(values)?;
    let scale = Scale::from_sets(&[values]);
    let moments = Moments::from_values(&scale.down_all(values));
    let reach = moments.standard_error() * critical_value(tail, as_f64(values.len() - 1));
    let less = |reach: f64| check_range(scale.up(moments.mean_minus(reach)));
    Ok(Interval { low: less(reach)?, high: less(-reach)? })
}

/// Geometric mean of `values`, the exponential of the mean of their logarithms, in their unit.
///
/// # Errors
///
/// Returns an error for no values, one that is not finite, or one that is 0 or below.
pub fn geometric_mean(values: &[f64]) -> Result<f64, Degenerate> {
    check_count(values, 1)?;
    check_positive(values)?;
    // Relative to the first value, so that the mean of equal values is exactly that value.
    let first = values[0];
    let ratios: Vec<f64> = values.iter().map(|&value| log_ratio(value, first)).collect();
    check_range(times_exp(first, mean(&ratios)))
}

/// Multiplies `value` by e to the power of `logarithm`, in steps that fit into a double whenever the result does.
fn times_exp(value: f64, logarithm: f64) -> f64 {
    if logarithm.abs() < MAX_EXPONENT {
        return value * logarithm.exp();
    }
    let quarter = (logarithm / 4.0).exp();
    value * quarter * quarter * quarter * quarter
}

/// Checks that all `values` are finite and positive, and so have logarithms.
pub(crate) fn check_positive(values: &[f64]) -> Result<(), Degenerate> {
    check_finite(values)?;
    values.iter().all(|&value| value > 0.0).then_some(()).ok_or(Degenerate::NotPositive)
}

/// Natural logarithm of `first` over `second`, both above 0 and finite. For nearly equal values it keeps the digits of
/// their difference, which a difference of logarithms would lose.
pub(crate) fn log_ratio(first: f64, second: f64) -> f64 {
    let apart = (first - second) / second;
    if apart.abs() <= 0.5 { apart.ln_1p() } else { first.ln() - second.ln() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean is 4, the standard deviation the square root of 12.5, and t is 2.776445105 at 4 degrees of freedom.
    #[test]
    fn the_interval_of_a_mean_is_students() {
        let interval = mean_interval(&[1.0, 2.0, 3.0, 4.0, 10.0], 0.95).unwrap();
        assert!((interval.low - -0.389_945_165).abs() < 1e-8, "{interval:?}");
        assert!((interval.high - 8.389_945_165).abs() < 1e-8, "{interval:?}");
        assert_eq!(mean_interval(&[1.0], 0.95), Err(Degenerate::TooFew { given: 1, needed: 2 }));
    }
}
