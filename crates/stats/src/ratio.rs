//! How many times one quantity is another.

use crate::{
    bootstrap::Interval,
    degenerate::{Degenerate, enough, in_range, level, pairs},
    description::logarithms,
    moments::{Moments, Two, count},
    spread::median,
    student::{Studentized, critical, of_unequal},
};

/// A ratio, without unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// First over second.
    pub ratio: f64,
    /// Where it lies at the level asked for.
    pub interval: Interval,
}

/// The ratio of the geometric means of pairs, `first` over `second`, which is the geometric mean of their
/// ratios. The interval is that of Student's t on the logarithms of the ratios, n - 1 degrees of freedom
/// (Fleming and Wallace 1986, *How Not to Lie with Statistics*, Communications of the ACM 29, for the mean).
///
/// # Errors
///
/// Other lengths, fewer than two pairs, a value that is not finite or not above 0, a level outside 0 to 1,
/// or a result that does not fit into a double.
pub fn paired_ratio(first: &[f64], second: &[f64], share: f64) -> Result<Ratio, Degenerate> {
    let tail = (1.0 - level(share)?) / 2.0;
    let differences = paired_logarithms(first, second)?;
    enough(&differences, 2)?;
    let moments = Moments::about(&differences, 0.0);
    let error = (moments.variance() / moments.n).sqrt();
    around(moments.mean, error * critical(tail, count(differences.len() - 1)))
}

/// The ratio of the geometric means of independent sets, `first` over `second`. The interval is that of
/// Welch's t on the logarithms.
///
/// # Errors
///
/// Fewer than two values in a set, one that is not finite or not above 0, a level outside 0 to 1, no spread
/// within either set, or a result that does not fit into a double.
pub fn ratio_of_geometric_means(
    first: &[f64],
    second: &[f64],
    share: f64,
) -> Result<Ratio, Degenerate> {
    let tail = (1.0 - level(share)?) / 2.0;
    enough(first, 2)?;
    enough(second, 2)?;
    let (first, second) = (logarithms(first)?, logarithms(second)?);
    let Studentized { apart, error, degrees, .. } = of_unequal(&Two::as_they_are(&first, &second))?;
    around(apart, error * critical(tail, degrees))
}

/// The ratio of medians, `first` over `second`; for its interval resample.
///
/// # Errors
///
/// A set without values, a value that is not finite, a median of 0 or below, or a result that does not fit
/// into a double.
pub fn ratio_of_medians(first: &[f64], second: &[f64]) -> Result<f64, Degenerate> {
    enough(first, 1)?;
    enough(second, 1)?;
    let middle = |values| median(values).ok_or(Degenerate::NotFinite);
    let (first, second) = (middle(first)?, middle(second)?);
    if first <= 0.0 || second <= 0.0 {
        return Err(Degenerate::NotPositive);
    }
    in_range(first / second)
}

fn paired_logarithms(first: &[f64], second: &[f64]) -> Result<Vec<f64>, Degenerate> {
    pairs(first, second)?;
    let (first, second) = (logarithms(first)?, logarithms(second)?);
    Ok(first.iter().zip(second).map(|(a, b)| a - b).collect())
}

/// From logarithms back to ratios.
fn around(middle: f64, reach: f64) -> Result<Ratio, Degenerate> {
    let ratio = |logarithm: f64| in_range(logarithm.exp());
    let interval = Interval { low: ratio(middle - reach)?, high: ratio(middle + reach)? };
    Ok(Ratio { ratio: ratio(middle)?, interval })
}
