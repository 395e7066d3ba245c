//! The normal distribution: cumulative probability and quantile.

use std::f64::consts::SQRT_2;

use statrs::distribution::{ContinuousCDF, Normal};

/// Probability that a standard normal value is below `x`, with a relative error of at most 1e-13, however small it is.
///
/// Uses the error function of libm: that of `statrs` is only accurate to 1e-10.
#[must_use]
pub fn normal_cdf(x: f64) -> f64 {
    libm::erfc(-x / SQRT_2) / 2.0
}

/// Standard normal value that is exceeded with probability `1 - p`; infinite for 0 and 1, NaN outside.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    // statrs panics for other values.
    if (0.0..=1.0).contains(&p) { Normal::standard().inverse_cdf(p) } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_probabilities_come_out() {
        // Reference values: mpmath 1.4.1, 40 digits.
        for (x, p) in [
            (-37.0, 5.725_571_222_524_577e-300),
            (-11.5, 6.595_771_446_113_675e-31),
            (-8.0, 6.220_960_574_271_784e-16),
            (-4.9, 4.791_832_765_903_19e-07),
            (-1.959_963_984_540_054, 0.025_000_000_000_000_012),
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_542_9),
            (6.0, 0.999_999_999_013_412_4),
        ] {
            assert!((normal_cdf(x) / p - 1.0).abs() < 1e-13, "{x}: {}", normal_cdf(x));
        }
    }

    #[test]
    fn the_quantile_undoes_the_cdf() {
        for p in [1e-300, 1e-30, 1e-12, 0.001, 0.025, 0.31, 0.5, 0.84, 0.999_99] {
            assert!((normal_cdf(normal_quantile(p)) / p - 1.0).abs() < 1e-11, "{p}");
        }
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(1.5).is_nan());
    }
}
