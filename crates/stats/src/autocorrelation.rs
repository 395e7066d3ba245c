//! Autocorrelation of consecutive measurements, which reduces the number of effectively independent ones.

use crate::{
    curve::CurveStatisticError,
    moments,
    normal::{normal_cdf, normal_quantile},
};

/// Minimum number of values for a meaningful lag.
const MIN_VALUES: usize = 3;

/// Correlation of the values of a series with earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Autocorrelation {
    /// Correlation with the value 1, 2, ... places before, each from -1 to 1.
    pub by_lag: Vec<f64>,
    /// White noise stays within plus and minus this at 95 % of lags: 1.96 over the square root of the number of values.
    pub bound: f64,
    /// Test of all lags together.
    pub ljung_box: LjungBox,
}

/// Result of the test of Ljung and Box (1978, *On a Measure of Lack of Fit in Time Series Models*, Biometrika
/// 65) that a series is white noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LjungBox {
    /// `n (n + 2)` times the sum over lags k of `r_k^2 / (n - k)`.
    pub statistic: f64,
    /// Probability of such a statistic or a larger one by chance: of chi-square with as many degrees of freedom as
    /// lags. Approximate for few values (below 30 or so).
    pub p_value: f64,
}

/// Autocorrelation of `series` at the lags 1 to `lags`, or to one less than the number of values: products of
/// deviations from the mean of the whole series, divided by the sum of their squares (Box and Jenkins 1970, *Time
/// Series Analysis*, 2.1.5).
///
/// # Errors
///
/// Returns an error for fewer than three values, a value that is not finite, no lags, and if all values are equal.
pub fn autocorrelation(
    series: &[f64],
    lags: usize,
) -> Result<Autocorrelation, CurveStatisticError> {
    if series.len() < MIN_VALUES {
        return Err(CurveStatisticError::TooShort { found: series.len(), needed: MIN_VALUES });
    }
    if lags == 0 {
        return Err(CurveStatisticError::Parameter { value: 0.0 });
    }
    let away = deviations_from_mean(series)?;
    let squares: f64 = away.iter().map(|value| value * value).sum();
    let at_lag = |lag: usize| away.iter().zip(&away[lag..]).map(|(a, b)| a * b).sum::<f64>();
    let by_lag: Vec<f64> =
        (1..=lags.min(series.len() - 1)).map(|lag| at_lag(lag) / squares).collect();
    #[allow(clippy::cast_precision_loss, reason = "a number of values")]
    let n = series.len() as f64;
    let bound = normal_quantile(0.975) / n.sqrt();
    Ok(Autocorrelation { bound, ljung_box: ljung_box(&by_lag, n), by_lag })
}

/// Deviations from the mean, in a unit in which no square overflows or underflows.
fn deviations_from_mean(series: &[f64]) -> Result<Vec<f64>, CurveStatisticError> {
    if series.iter().any(|value| !value.is_finite()) {
        return Err(CurveStatisticError::NotFinite);
    }
    if series.iter().all(|value| *value == series[0]) {
        return Err(CurveStatisticError::NoVariation);
    }
    Ok(moments::deviations_from_mean(series))
}

fn ljung_box(by_lag: &[f64], n: f64) -> LjungBox {
    let mut left = n;
    let terms = by_lag.iter().map(|r| {
        left -= 1.0;
        r * r / left
    });
    let statistic = n * (n + 2.0) * terms.sum::<f64>();
    LjungBox { statistic, p_value: chi_square_above(statistic, by_lag.len()) }
}

/// Probability that chi-square with `degrees` degrees of freedom, 1 or more, is above `x`, by the finite sums of
/// Abramowitz and Stegun (1964, 26.4.4 and 26.4.5).
fn chi_square_above(x: f64, degrees: usize) -> f64 {
    let half = x / 2.0;
    let is_odd = degrees % 2 == 1;
    // The divisor of the first term is 1 if the degrees are even, and the gamma function of 3/2 if they are odd.
    let (start, mut log_term, mut step) = if is_odd {
        let log_gamma = (std::f64::consts::PI.sqrt() / 2.0).ln();
        (2.0 * normal_cdf(-x.sqrt()), 0.5 * half.ln() - half - log_gamma, 1.5)
    } else {
        (0.0, -half, 1.0)
    };
    let mut sum = start;
    // In logarithms: exp(-x/2) alone underflows long before the sum does.
    for _ in 0..degrees / 2 {
        sum += log_term.exp();
        log_term += half.ln() - f64::ln(step);
        step += 1.0;
    }
    sum.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_alternates_is_correlated_with_the_opposite_sign() {
        let series: Vec<f64> = (0..100).map(|k| f64::from(k % 2)).collect();
        let found = autocorrelation(&series, 2).unwrap();
        assert!((found.by_lag[0] + 0.99).abs() < 1e-12 && (found.by_lag[1] - 0.98).abs() < 1e-12);
        assert!(found.ljung_box.p_value < 1e-12);
        assert!((found.bound - 0.196).abs() < 1e-4);
    }

    /// Reference values: SciPy 1.17, `stats.chi2.sf`.
    #[test]
    fn chi_square_is_known() {
        for (x, degrees, p) in [
            (3.841_458_820_694_124, 1, 0.05),
            (0.5, 2, 0.778_800_783_071_404_9),
            (7.0, 3, 0.071_897_772_496_465_09),
            (30.0, 10, 0.000_856_641_210_775_300_9),
        ] {
            let ours = chi_square_above(x, degrees);
            assert!((ours / p - 1.0).abs() < 1e-12, "{x}, {degrees}: {ours}");
        }
        assert_eq!(chi_square_above(0.0, 2), 1.0);
        assert_eq!(chi_square_above(0.0, 3), 1.0);
    }

    #[test]
    fn what_does_not_vary_has_none() {
        assert_eq!(autocorrelation(&[0.1; 9], 2), Err(CurveStatisticError::NoVariation));
        assert_eq!(autocorrelation(&[1.0, f64::NAN, 2.0], 1), Err(CurveStatisticError::NotFinite));
        assert!(matches!(
            autocorrelation(&[1.0, 2.0], 1),
            Err(CurveStatisticError::TooShort { .. })
        ));
        assert!(matches!(
            autocorrelation(&[1.0, 2.0, 4.0], 0),
            Err(CurveStatisticError::Parameter { .. })
        ));
        assert_eq!(autocorrelation(&[1.0, 2.0, 4.0], 9).unwrap().by_lag.len(), 2);
    }
}
