//! The normal distribution: the probability up to a point, and the point of a probability.

use std::f64::consts::PI;

/// Beyond this many standard deviations the series needs too many terms, and the continued fraction
/// few enough.
const SERIES_ENDS: f64 = 5.0;
/// A double has no probability between 0 and that of this many standard deviations below the mean.
const FURTHEST: f64 = 38.0;
const CONTINUED_FRACTION_TERMS: u32 = 60;
const BISECTIONS: u32 = 70;

/// The probability that a standard normal value is below `x`; accurate to about 1e-15.
pub(crate) fn normal_cdf(x: f64) -> f64 {
    if x.is_nan() {
        return f64::NAN;
    }
    if x.abs() > SERIES_ENDS {
        let beyond = upper_tail(x.abs());
        return if x > 0.0 { 1.0 - beyond } else { beyond };
    }
    0.5 + density(x) * odd_series(x)
}

/// The standard normal value that is exceeded with probability `1 - p`; infinite for 0 and 1, NaN
/// outside.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    if p > 0.5 {
        // The lower tail is where the cdf has its relative accuracy.
        return -normal_quantile(1.0 - p);
    }
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    if p.is_nan() || p < 0.0 {
        return f64::NAN;
    }
    let (mut low, mut high) = (-FURTHEST, 0.0);
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        if normal_cdf(middle) < p { low = middle } else { high = middle }
    }
    high
}

fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

/// `x + x^3/3 + x^5/(3*5) + ...` (Marsaglia 2004, *Evaluating the Normal Distribution*, Journal of
/// Statistical Software 11).
fn odd_series(x: f64) -> f64 {
    let (mut term, mut sum, mut divisor) = (x, x, 1.0);
    while term.abs() > 1e-17 * sum.abs() {
        divisor += 2.0;
        term *= x * x / divisor;
        sum += term;
    }
    sum
}

/// The probability above `x`, which is far above 0, by Laplace's continued fraction
/// `1 / (x + 1 / (x + 2 / (x + ...)))` (Abramowitz and Stegun 1964, 26.2.14).
fn upper_tail(x: f64) -> f64 {
    let denominator =
        (1..=CONTINUED_FRACTION_TERMS).rev().fold(x, |below, k| x + f64::from(k) / below);
    density(x) / denominator
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_probabilities_come_out() {
        // R 4: pnorm(c(-8, -1.959963984540054, 0, 1, 6))
        for (x, p) in [
            (-8.0, 6.220_960_574_271_785e-16),
            (-1.959_963_984_540_054, 0.025),
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_542_9),
            (6.0, 0.999_999_999_013_412_4),
        ] {
            assert!((normal_cdf(x) / p - 1.0).abs() < 1e-13, "{x}: {}", normal_cdf(x));
        }
    }

    #[test]
    fn the_quantile_undoes_the_cdf() {
        for p in [1e-12, 0.001, 0.025, 0.31, 0.5, 0.84, 0.999_99] {
            assert!((normal_cdf(normal_quantile(p)) / p - 1.0).abs() < 1e-11, "{p}");
        }
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(1.5).is_nan());
    }

    #[test]
    fn the_two_formulas_meet() {
        let below = normal_cdf(-SERIES_ENDS);
        let above = normal_cdf(-SERIES_ENDS - 1e-12);
        assert!((below / above - 1.0).abs() < 1e-8);
    }
}
