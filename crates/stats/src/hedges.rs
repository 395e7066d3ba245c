//! Hedges' g: the distance between two means in standard deviations, corrected for small samples.

use crate::{
    bootstrap::Interval,
    degenerate::{Degenerate, check_count, check_probability, check_range},
    moments::{TwoSamples, as_f64, scaled_differences},
    root::find_root,
    student::{Noncentral, Studentized, studentize_differences, studentize_pooled},
};

/// A difference in standard deviations, dimensionless.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandardizedDifference {
    /// Hedges' g.
    pub g: f64,
    /// Interval of the difference at the requested level.
    pub interval: Interval,
    /// Degrees of freedom of the standard deviation.
    pub degrees: f64,
}

/// Hedges' g of independent sets: `J (mean 1 - mean 2) / s` with the pooled standard deviation s and
/// `J = Γ(f/2) / (sqrt(f/2) Γ((f-1)/2))`, f = n + m - 2, which removes the bias of small samples (Hedges 1981,
/// *Distribution Theory for Glass's Estimator of Effect Size*, Journal of Educational Statistics 6).
///
/// The interval is exact for normal values of one variance: the noncentralities at which t is exceeded with probability
/// `(1 - level) / 2` and with 1 minus that, times `J sqrt(1/n + 1/m)` (Steiger and Fouladi 1997, *Noncentrality
/// Interval Estimation*; Cumming and Finch 2001, Educational and Psychological Measurement 61). Values must be
/// independent, and normal or nearly so.
///
/// # Errors
///
/// Returns an error for an empty set, fewer than four values in all, one that is not finite, no spread within the sets,
/// a level outside 0 to 1, or a difference beyond 10,000 standard errors.
pub fn hedges_g(
    first: &[f64],
    second: &[f64],
    level: f64,
) -> Result<StandardizedDifference, Degenerate> {
    let two = TwoSamples::from_sets(first, second)?;
    let error = (1.0 / two.first.n + 1.0 / two.second.n).sqrt();
    standardized(studentize_pooled(&two)?, error, level)
}

/// Hedges' g of pairs: `J` times the mean of the differences over their standard deviation, that is d of z with n - 1
/// degrees of freedom (Gibbons, Hedeker and Davis 1993, *Estimation of Effect Size from a Series of Experiments
/// Involving Paired Comparisons*, Journal of Educational Statistics 18). It is not comparable with [`hedges_g`] of the
/// same values, because its unit excludes the variation that pairs share.
///
/// The interval is computed in the same way, with `J / sqrt n`.
///
/// # Errors
///
/// Returns an error for different lengths, fewer than three pairs, a value that is not finite, differences that are all
/// equal, a level outside 0 to 1, or a difference beyond 10,000 standard errors.
pub fn paired_hedges_g(
    first: &[f64],
    second: &[f64],
    level: f64,
) -> Result<StandardizedDifference, Degenerate> {
    let differences = scaled_differences(first, second)?;
    check_count(&differences, 3)?;
    let error = 1.0 / as_f64(differences.len()).sqrt();
    standardized(studentize_differences(&differences)?, error, level)
}

/// Largest difference, in standard errors, for which the noncentral distribution is computed.
const MAX_STANDARD_ERRORS: f64 = 1e4;

fn standardized(
    studentized: Studentized,
    error: f64,
    level: f64,
) -> Result<StandardizedDifference, Degenerate> {
    let tail = (1.0 - check_probability(level)?) / 2.0;
    let degrees = studentized.degrees;
    if degrees < 2.0 {
        return Err(Degenerate::TooFew { given: studentized.n, needed: studentized.n + 1 });
    }
    let t = check_range(studentized.difference / studentized.standard_error)?;
    if t.abs() > MAX_STANDARD_ERRORS {
        return Err(Degenerate::OutOfRange);
    }
    let unit = bias_correction(degrees) * error;
    let interval = Interval {
        low: unit * noncentrality(t, degrees, tail),
        high: -unit * noncentrality(-t, degrees, tail),
    };
    Ok(StandardizedDifference { g: unit * t, interval, degrees })
}

/// Degrees of freedom from which on the asymptotic series of J is accurate to the last digit.
const ASYMPTOTIC_DEGREES: f64 = 200.0;

/// Hedges' J by its asymptotic series. Few degrees of freedom are first raised by `Γ(x + 1) = x Γ(x)`. Logarithms of
/// the gamma function would lose more digits the more degrees there are.
fn bias_correction(degrees: f64) -> f64 {
    let (mut many, mut ratio) = (degrees, 1.0);
    while many < ASYMPTOTIC_DEGREES {
        ratio *= (many - 1.0) / many;
        many += 2.0;
    }
    let terms = [483.0 / 8192.0, 59.0 / 2048.0, -9.0 / 128.0, -7.0 / 32.0, -3.0 / 4.0, 1.0];
    let series = terms.iter().fold(0.0, |sum, term| sum / many + term);
    ratio * (many / degrees).sqrt() * series
}

/// Noncentrality at which `t` is exceeded with probability `tail`.
fn noncentrality(t: f64, degrees: f64, tail: f64) -> f64 {
    let over = |delta: f64| Noncentral { degrees, delta }.above(t) - tail;
    let mut reach = 2.0 + t.abs() / degrees.sqrt();
    while over(t - reach) > 0.0 && reach < 1e9 {
        reach *= 2.0;
    }
    let mut beyond = 1.0 + t.abs() / degrees.sqrt();
    while over(t + beyond) < 0.0 && beyond < 1e9 {
        beyond *= 2.0;
    }
    find_root(t - reach, t + beyond, over)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference values: mpmath 1.4.1, 40 digits.
    #[test]
    fn the_correction_is_good_for_few_and_for_many() {
        for (degrees, j) in [
            (2.0, 0.564_189_583_547_756_3),
            (50.0, 0.984_911_942_295_572_6),
            (199.0, 0.996_225_623_024_817_2),
            (200.0, 0.996_244_522_479_126_6),
            (1000.0, 0.999_249_781_179_716_4),
            (1e6, 0.999_999_249_999_781_2),
            (1e8, 0.999_999_992_5),
        ] {
            let ours = bias_correction(degrees);
            assert!((ours / j - 1.0).abs() < 1e-13, "{degrees}: {ours:e}, not {j:e}");
        }
    }
}
