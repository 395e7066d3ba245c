//! What a mean and a standard deviation say of quantiles, whatever the distribution.

use crate::{
    bootstrap::Interval,
    degenerate::{Degenerate, finite, in_range, level},
    moments::count,
};

/// The greatest share of a distribution that may lie `deviations` standard deviations or more from its mean,
/// on both sides together: `1 / k^2`, at most 1 (Chebyshev 1867, *Des valeurs moyennes*). 50 of them leave
/// 0.0004. As a bound on p it holds without any assumption but a known mean and standard deviation; where
/// they come from n values, take [`chebyshev_of_sample`].
///
/// # Errors
///
/// A number that is NaN or infinite.
pub fn chebyshev(deviations: f64) -> Result<f64, Degenerate> {
    finite(&[deviations])?;
    Ok((1.0 / (deviations * deviations)).min(1.0))
}

/// The least quantile that a value may be which lies `deviations` standard deviations above the mean:
/// `1 - 1 / (1 + k^2)`, by the one-sided inequality (Cantelli 1928, *Sui confini della probabilità*). Of a
/// value below the mean, where the inequality bounds the quantile from above, the greatest it may be.
///
/// # Errors
///
/// A number that is NaN or infinite.
pub fn chebyshev_quantile(deviations: f64) -> Result<f64, Degenerate> {
    finite(&[deviations])?;
    let outside = 1.0 / (1.0 + deviations * deviations);
    Ok(if deviations < 0.0 { outside } else { 1.0 - outside })
}

/// The greatest probability that the next value lies `deviations` sample standard deviations or more from
/// the mean of the `n` values before it, all of one distribution: with k of them
/// `floor((n + 1) / n ((n - 1) / k^2 + 1)) / (n + 1)`, at most 1 (Saw, Yang and Mo 1984, *Chebyshev
/// Inequality with Estimated Mean and Variance*, The American Statistician 38, in the simpler form of Kabán
/// 2012, Statistics and Computing 22). It is never below `1 / (n + 1)`.
///
/// # Errors
///
/// Fewer than two values, or a number that is NaN or infinite.
pub fn chebyshev_of_sample(deviations: f64, n: usize) -> Result<f64, Degenerate> {
    finite(&[deviations])?;
    if n < 2 {
        return Err(Degenerate::TooFew { given: n, needed: 2 });
    }
    let n = count(n);
    let inside = (n - 1.0) / (deviations * deviations) + 1.0;
    // In this order what is a whole number is one.
    Ok((((n + 1.0) * inside / n).floor() / (n + 1.0)).min(1.0))
}

/// Where the quantile `p` of a distribution of this mean and standard deviation lies, in their unit:
/// `mean - sd sqrt((1 - p) / p)` to `mean + sd sqrt(p / (1 - p))` (Cantelli 1928).
///
/// # Errors
///
/// A number that is NaN or infinite, a negative standard deviation, a `p` not between 0 and 1, or a bound
/// that does not fit into a double.
pub fn quantile_bounds(mean: f64, deviation: f64, p: f64) -> Result<Interval, Degenerate> {
    finite(&[mean, deviation])?;
    let p = level(p)?;
    if deviation < 0.0 {
        return Err(Degenerate::OutOfRange);
    }
    let low = in_range(mean - deviation * ((1.0 - p) / p).sqrt())?;
    let high = in_range(mean + deviation * (p / (1.0 - p)).sqrt())?;
    Ok(Interval { low, high })
}
