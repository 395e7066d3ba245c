//! Effect sizes for two sets of values: dimensionless and independent of their distribution.

use crate::{
    bootstrap::Interval,
    degenerate::{Degenerate, check_count, check_finite, check_probability},
    moments::as_f64,
    normal::normal_quantile,
};

/// Cliff's delta (Cliff 1993, *Dominance statistics: ordinal analyses to answer ordinal questions*, Psychological
/// Bulletin 114): the share of pairs in which the value of `first` is the greater, minus the share in which that of
/// `second` is. 1 if all of `first` lie above all of `second`, 0 if neither tends to be greater. Equal to
/// `2 U / (n m) - 1` with the Mann-Whitney U of `first`. `None` if either set is empty, or if a value is not finite.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "counts of pairs, good to 53 bits")]
pub fn cliffs_delta(first: &[f64], second: &[f64]) -> Option<f64> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    if first.iter().chain(second).any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = second.to_vec();
    sorted.sort_by(f64::total_cmp);
    let dominance = |value: &f64| {
        let below = sorted.partition_point(|other| other < value);
        let above = sorted.len() - sorted.partition_point(|other| other <= value);
        below as f64 - above as f64
    };
    let pairs = (first.len() * second.len()) as f64;
    Some(first.iter().map(dominance).sum::<f64>() / pairs)
}

/// Interval of Cliff's delta of the populations at the level `level`: the asymmetric interval of Cliff (1996, *Ordinal
/// Methods for Behavioral Data Analysis*, chapter 5; Feng and Cliff 2004, *Monte Carlo Evaluation of Ordinal d with
/// Improved Confidence Interval*, Journal of Modern Applied Statistical Methods 3),
///
/// `(d - d^3 ± z s sqrt((1 - d^2)^2 + z^2 s^2)) / (1 - d^2 + z^2 s^2)`
///
/// with the unbiased variance `s^2` of d, at least `(1 - d^2) / (n m - 1)`. If all of one set lie above the other, so
/// that the variance is 0, it extends from `±(k - z^2) / (k + z^2)` to ±1, where k is the smaller n (Feng and Cliff
/// 2004). The sets must be independent. The normal approximation has less than its nominal coverage for fewer than ten
/// values.
///
/// # Errors
///
/// Returns an error for fewer than two values in a set, one that is not finite, or a level outside 0 to 1.
pub fn cliffs_delta_interval(
    first: &[f64],
    second: &[f64],
    level: f64,
) -> Result<Interval, Degenerate> {
    let z = -normal_quantile((1.0 - check_probability(level)?) / 2.0);
    check_count(first, 2)?;
    check_count(second, 2)?;
    check_finite(first)?;
    check_finite(second)?;
    let Dominance { delta, variance } = Dominance::from_sets(first, second);
    let rest = 1.0 - delta * delta;
    if rest == 0.0 {
        let k = as_f64(first.len().min(second.len()));
        let end = delta * (k - z * z) / (k + z * z);
        return Ok(Interval { low: end.min(delta), high: end.max(delta) });
    }
    let square = z * z * variance;
    let reach = (square * (rest * rest + square)).sqrt();
    let at = |reach: f64| ((delta * rest + reach) / (rest + square)).clamp(-1.0, 1.0);
    Ok(Interval { low: at(-reach), high: at(reach) })
}

/// Cliff's delta with its variance.
struct Dominance {
    delta: f64,
    variance: f64,
}

impl Dominance {
    /// Computed for two sets of at least two finite values each.
    fn from_sets(first: &[f64], second: &[f64]) -> Self {
        let (n, m) = (as_f64(first.len()), as_f64(second.len()));
        let (rows, pairs_apart) = dominance_counts(first, second);
        let (columns, _) = dominance_counts(second, first);
        let delta = rows.iter().sum::<f64>() / (n * m);
        let spread = |sums: &[f64], total: f64, center: f64| -> f64 {
            sums.iter().map(|sum| (sum / total - center).powi(2)).sum()
        };
        let by_row = m * m * spread(&rows, m, delta);
        let by_column = n * n * spread(&columns, n, -delta);
        // Sum of squared deviations from the mean; each pair is -1, 0 or 1.
        let by_pair = pairs_apart - n * m * delta * delta;
        let variance = (by_row + by_column - by_pair) / (n * m * (n - 1.0) * (m - 1.0));
        let least = (1.0 - delta * delta) / (n * m - 1.0);
        Self { delta, variance: variance.max(least) }
    }
}

/// For each of `values`, the number of `others` below minus the number above, and the total number of pairs that are
/// not tied.
fn dominance_counts(values: &[f64], others: &[f64]) -> (Vec<f64>, f64) {
    let mut sorted = others.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut untied = 0;
    let balance = |value: &f64| {
        let below = sorted.partition_point(|other| other < value);
        let above = sorted.len() - sorted.partition_point(|other| other <= value);
        untied += below + above;
        as_f64(below) - as_f64(above)
    };
    let balances = values.iter().map(balance).collect();
    (balances, as_f64(untied))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_apart_are_wholly_apart_and_those_alike_not_at_all() {
        assert_eq!(cliffs_delta(&[3.0, 4.0], &[1.0, 2.0]), Some(1.0));
        assert_eq!(cliffs_delta(&[1.0, 2.0], &[3.0, 4.0]), Some(-1.0));
        assert_eq!(cliffs_delta(&[1.0, 2.0], &[2.0, 1.0]), Some(0.0));
        assert_eq!(cliffs_delta(&[], &[1.0]), None);
        assert_eq!(cliffs_delta(&[f64::NAN], &[1.0]), None);
    }
}
