//! Bounds on quantiles from a mean and a standard deviation, for any distribution.

use crate::{
    bootstrap::Interval,
    degenerate::{Degenerate, check_finite, check_probability, check_range},
    moments::as_f64,
};

/// Maximum share of a distribution that may lie `deviations` standard deviations or more from its mean, on both sides
/// together: `1 / k^2`, at most 1 (Chebyshev 1867, *Des valeurs moyennes*). For 50 deviations it is 0.0004. As a bound
/// on p it assumes only that mean and standard deviation are known; if they are estimated from n values, use
/// [`chebyshev_of_sample`].
///
/// # Errors
///
/// Returns an error for a number that is NaN or infinite.
pub fn chebyshev(deviations: f64) -> Result<f64, Degenerate> {
    check_finite(&[deviations])?;
    Ok((1.0 / (deviations * deviations)).min(1.0))
}

/// Minimum quantile of a value that lies `deviations` standard deviations above the mean: `1 - 1 / (1 + k^2)`, by the
/// one-sided inequality (Cantelli 1928, *Sui confini della probabilità*). For a value below the mean the inequality
/// bounds the quantile from above, and the result is its maximum.
///
/// # Errors
///
/// Returns an error for a number that is NaN or infinite.
pub fn chebyshev_quantile(deviations: f64) -> Result<f64, Degenerate> {
    check_finite(&[deviations])?;
    let outside = 1.0 / (1.0 + deviations * deviations);
    Ok(if deviations < 0.0 { outside } else { 1.0 - outside })
}

/// Maximum probability that the next value lies `deviations` sample standard deviations or more from the mean of the
/// `n` values before it, all from one distribution: with k deviations
/// `floor((n + 1) / n ((n - 1) / k^2 + 1)) / (n + 1)`, at most 1 (Saw, Yang and Mo 1984, *Chebyshev Inequality with
/// Estimated Mean and Variance*, The American Statistician 38, in the simpler form of Kabán 2012, Statistics and
/// Computing 22). It is never below `1 / (n + 1)`.
///
/// # Errors
///
/// Returns an error for fewer than two values, or a number that is NaN or infinite.
pub fn chebyshev_of_sample(deviations: f64, n: usize) -> Result<f64, Degenerate> {
    check_finite(&[deviations])?;
    if n < 2 {
        return Err(Degenerate::TooFew { given: n, needed: 2 });
    }
    let n = as_f64(n);
    let inside = (n - 1.0) / (deviations * deviations) + 1.0;
    // This order of operations keeps whole numbers exact.
    Ok((((n + 1.0) * inside / n).floor() / (n + 1.0)).min(1.0))
}

/// Range of the quantile `p` of a distribution with this mean and standard deviation, in their unit:
/// `mean - sd sqrt((1 - p) / p)` to `mean + sd sqrt(p / (1 - p))` (Cantelli 1928).
///
/// # Errors
///
/// Returns an error for a number that is NaN or infinite, a negative standard deviation, a `p` not between 0 and 1, or
/// a bound that does not fit into a double.
pub fn quantile_bounds(mean: f64, deviation: f64, p: f64) -> Result<Interval, Degenerate> {
    check_finite(&[mean, deviation])?;
    let p = check_probability(p)?;
    if deviation < 0.0 {
        return Err(Degenerate::OutOfRange);
    }
    let low = check_range(mean - deviation * ((1.0 - p) / p).sqrt())?;
    let high = check_range(mean + deviation * (p / (1.0 - p)).sqrt())?;
    Ok(Interval { low, high })
}
