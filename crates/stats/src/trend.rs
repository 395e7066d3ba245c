//! Trend of consecutive measurements, by measures that a few outliers do not change much.

use std::cmp::Ordering;

use crate::{moments::scaled, normal::normal_cdf, spread::median};

/// Minimum number of measurements for the normal approximation.
const MIN_MEASUREMENTS: usize = 8;
/// Maximum number of blocks. Longer series are reduced to between half this number and this number of blocks, since
/// computing time grows with the square.
const MAX_BLOCKS: usize = 250;

/// Trend of consecutive measurements over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Kendall's tau-b (1945) of measurement and time: -1 if every measurement is below the one before, 1 if every one
    /// is above.
    pub tau: f64,
    /// Probability of a tau at least as far from 0 if there is no trend; two-sided.
    pub p_value: f64,
    /// Change from the first to the last measurement along the median slope, relative to the median measurement: 0.05
    /// is a rise of 5 %. Dimensionless.
    pub change: f64,
}

/// Trend of `series`: the test of Mann (1945, *Nonparametric Tests Against Trend*, Econometrica 13) and Kendall (1975,
/// *Rank Correlation Methods*) in the normal approximation with ties and without continuity correction, and the slope
/// of Theil (1950) and Sen (1968, JASA 63).
///
/// More than 250 measurements are reduced to medians of equal blocks. `None` for fewer than eight measurements, if one
/// is not finite, if their median is 0, or if it is so near 0 that the change does not fit into a double.
#[must_use]
pub fn trend(series: &[f64]) -> Option<Trend> {
    let blocks = scaled(&blocks(series)?)?;
    let middle = median(&blocks)?;
    if blocks.len() < MIN_MEASUREMENTS || middle == 0.0 {
        return None;
    }
    let concordance = concordance(&blocks);
    #[allow(clippy::cast_precision_loss, reason = "a number of blocks")]
    let n = blocks.len() as f64;
    let change = slope(&blocks)? * (n - 1.0) / middle.abs();
    let trend = Trend { tau: concordance.tau(n), p_value: concordance.p_value(n), change };
    change.is_finite().then_some(trend)
}

fn blocks(series: &[f64]) -> Option<Vec<f64>> {
    series.chunks(series.len().div_ceil(MAX_BLOCKS).max(1)).map(median).collect()
}

/// Counts of rising, falling and tied pairs.
struct Concordance {
    /// Rising pairs minus falling pairs.
    excess: f64,
    /// Sum of t (t - 1) / 2 over the groups of t equal measurements.
    tied_pairs: f64,
    /// Sum of t (t - 1) (2 t + 5) over the same groups.
    tied_variance: f64,
}

fn concordance(series: &[f64]) -> Concordance {
    let mut excess = 0.0;
    for (i, first) in series.iter().enumerate() {
        for second in &series[i + 1..] {
            excess += match second.total_cmp(first) {
                _ if second == first => 0.0,
                Ordering::Greater => 1.0,
                _ => -1.0,
            };
        }
    }
    let mut sorted = series.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[allow(clippy::cast_precision_loss, reason = "a number of blocks")]
    let ties = || sorted.chunk_by(|a, b| a == b).map(|equal| equal.len() as f64);
    Concordance {
        excess,
        tied_pairs: ties().map(|t| t * (t - 1.0) / 2.0).sum(),
        tied_variance: ties().map(|t| t * (t - 1.0) * (2.0 * t + 5.0)).sum(),
    }
}

impl Concordance {
    fn tau(&self, n: f64) -> f64 {
        let pairs = n * (n - 1.0) / 2.0;
        let untied = pairs - self.tied_pairs;
        if untied == 0.0 { 0.0 } else { self.excess / (pairs * untied).sqrt() }
    }

    fn p_value(&self, n: f64) -> f64 {
        let variance = (n * (n - 1.0) * (2.0 * n + 5.0) - self.tied_variance) / 18.0;
        if variance <= 0.0 {
            return 1.0;
        }
        2.0 * normal_cdf(-self.excess.abs() / variance.sqrt())
    }
}

/// Median of the slopes between all pairs, per measurement.
fn slope(series: &[f64]) -> Option<f64> {
    let mut slopes = Vec::with_capacity(series.len() * series.len() / 2);
    for (i, first) in series.iter().enumerate() {
        for (away, second) in (1_u32..).zip(&series[i + 1..]) {
            slopes.push((second - first) / f64::from(away));
        }
    }
    median(&slopes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rise_is_a_rise_despite_an_outlier() {
        let mut series: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i)).collect();
        series[3] = 1e6;
        let trend = trend(&series).unwrap();
        assert!((trend.change - 19.0 / 110.0).abs() < 0.02, "{trend:?}");
        assert!(trend.tau > 0.7 && trend.p_value < 1e-4, "{trend:?}");
    }

    #[test]
    fn a_long_series_is_taken_in_blocks() {
        let series: Vec<f64> = (0..12_345).map(|i| 2e4 - f64::from(i)).collect();
        let trend = trend(&series).unwrap();
        assert!((trend.change + 12_345.0 / 13_827.5).abs() < 0.01, "{trend:?}");
        assert_eq!(trend.tau, -1.0);
    }

    #[test]
    fn equal_measurements_have_no_trend() {
        assert_eq!(trend(&[5.0; 8]), Some(Trend { tau: 0.0, p_value: 1.0, change: 0.0 }));
    }

    #[test]
    fn too_little_or_no_number_has_no_trend() {
        assert_eq!(trend(&[1.0; 7]), None);
        assert_eq!(trend(&[0.0; 8]), None);
        assert_eq!(trend(&[1.0, 2.0, 3.0, 4.0, f64::NAN, 6.0, 7.0, 8.0]), None);
        assert_eq!(trend(&[]), None);
    }
}
