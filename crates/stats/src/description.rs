//! What there is to say about one set of values.

use crate::{
    bootstrap::Interval,
    degenerate::{Degenerate, enough, finite, in_range, level},
    moments::{Moments, Scale, count, mean},
    quantile::{ascending, quantile},
    spread::median_absolute_deviation,
    student::critical,
};

/// A set of values in numbers, in their unit where nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Description {
    /// How many values.
    pub n: usize,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The sample standard deviation, over n - 1. `None` for one value.
    pub standard_deviation: Option<f64>,
    /// The coefficient of variation, standard deviation over mean, without unit. `None` for one value, a
    /// mean of 0, or where it does not fit into a double.
    pub coefficient_of_variation: Option<f64>,
    /// The geometric mean. `None` where a value is 0 or below.
    pub geometric_mean: Option<f64>,
    /// First quartile, of type 7 like the two below.
    pub q1: f64,
    /// The median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// The distance of the quartiles.
    pub interquartile_range: f64,
    /// Half of that, SIQR (Jain 1991, *The Art of Computer Systems Performance Analysis*, 12.8).
    pub semi_interquartile_range: f64,
    /// The median distance from the median, not scaled.
    pub median_absolute_deviation: f64,
}

/// e to the power of this fits into a double, and to the power of its negative.
const MOST_EXPONENT: f64 = 700.0;

/// What there is to say about `values`.
///
/// # Errors
///
/// No values, one that is not finite, or values so far apart that their range does not fit into a double.
pub fn describe(values: &[f64]) -> Result<Description, Degenerate> {
    enough(values, 1)?;
    finite(values)?;
    let sorted = ascending(values).ok_or(Degenerate::NotFinite)?;
    let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
    in_range(max - min)?;
    let at = |p: f64| quantile(&sorted, p).ok_or(Degenerate::NotFinite);
    let (q1, q3) = (at(0.25)?, at(0.75)?);
    let scale = Scale::of(&[values]);
    let moments = Moments::of(&scale.all(values));
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

/// The interval of the mean of `values` by Student's t (Student 1908, *The Probable Error of a Mean*,
/// Biometrika 6), of level `share`, in their unit.
///
/// # Errors
///
/// Fewer than two values, one that is not finite, a level outside 0 to 1, or a result that does not fit into
/// a double.
pub fn mean_interval(values: &[f64], share: f64) -> Result<Interval, Degenerate> {
    let tail = (1.0 - level(share)?) / 2.0;
    enough(values, 2)?;
    finite(values)?;
    let scale = Scale::of(&[values]);
    let moments = Moments::of(&scale.all(values));
    let reach = moments.error() * critical(tail, count(values.len() - 1));
    let less = |reach: f64| in_range(scale.up(moments.above(reach)));
    Ok(Interval { low: less(reach)?, high: less(-reach)? })
}

/// The geometric mean of `values`, the exponential of the mean of their logarithms, in their unit.
///
/// # Errors
///
/// No values, one that is not finite, or one that is 0 or below.
pub fn geometric_mean(values: &[f64]) -> Result<f64, Degenerate> {
    enough(values, 1)?;
    positive(values)?;
    // About the first, so that equal values give themselves.
    let first = values[0];
    let ratios: Vec<f64> = values.iter().map(|&value| log_ratio(value, first)).collect();
    in_range(times_exp(first, mean(&ratios)))
}

/// `value` times e to the power of `logarithm`, in steps each of which fits into a double if the result does.
fn times_exp(value: f64, logarithm: f64) -> f64 {
    if logarithm.abs() < MOST_EXPONENT {
        return value * logarithm.exp();
    }
    let quarter = (logarithm / 4.0).exp();
    value * quarter * quarter * quarter * quarter
}

/// Nothing, or why `values` have no logarithms.
pub(crate) fn positive(values: &[f64]) -> Result<(), Degenerate> {
    finite(values)?;
    values.iter().all(|&value| value > 0.0).then_some(()).ok_or(Degenerate::NotPositive)
}

/// The natural logarithm of `first` over `second`, both above 0 and finite. Of values that are all but equal
/// it has as many digits as their difference, where a difference of logarithms has none.
pub(crate) fn log_ratio(first: f64, second: f64) -> f64 {
    let apart = (first - second) / second;
    if apart.abs() <= 0.5 { apart.ln_1p() } else { first.ln() - second.ln() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean is 4, the standard deviation the root of 12.5, and t 2.776445105 at 4 degrees of freedom.
    #[test]
    fn the_interval_of_a_mean_is_students() {
        let interval = mean_interval(&[1.0, 2.0, 3.0, 4.0, 10.0], 0.95).unwrap();
        assert!((interval.low - -0.389_945_165).abs() < 1e-8, "{interval:?}");
        assert!((interval.high - 8.389_945_165).abs() < 1e-8, "{interval:?}");
        assert_eq!(mean_interval(&[1.0], 0.95), Err(Degenerate::TooFew { given: 1, needed: 2 }));
    }
}
