//! Confidence interval of a share.

/// Two-sided 95 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Returns Wilson's 95 % interval of a share observed in the given number of independent samples.
///
/// Source: Wilson, Probable Inference, the Law of Succession, and Statistical Inference, 1927.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "numbers of samples, good to 53 bits")]
pub fn wilson(share: f64, samples: u64) -> (f64, f64) {
    if samples == 0 {
        return (0.0, 1.0);
    }
    let n = samples as f64;
    let scale = 1.0 + Z * Z / n;
    let center = (share + Z * Z / (2.0 * n)) / scale;
    let half = Z / scale * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    // Rounding can move an end past the share by one unit in the last place.
    ((center - half).clamp(0.0, share), (center + half).clamp(share, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_scipy() {
        // Reference: scipy `binomtest(k, n).proportion_ci(method="wilson")`
        for (share, samples, low, high) in [
            (0.3, 10, 0.107_791_27, 0.603_221_85),
            (0.0, 20, 0.0, 0.161_125_16),
            (1.0, 50, 0.928_651_6, 1.0),
        ] {
            let found = wilson(share, samples);
            assert!((found.0 - low).abs() < 1e-6 && (found.1 - high).abs() < 1e-6, "{found:?}");
        }
        assert_eq!(wilson(0.5, 0), (0.0, 1.0));
    }
}
