//! Median of some values, its confidence interval and the spread of the values.

use ipcperf_stats::quartiles;
use serde::Serialize;

/// Summary of some values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Estimate {
    /// Number of values.
    pub(crate) n: usize,
    pub(crate) median: f64,
    /// Contains the true median with a probability of at least 95 %; `None` below 6 values.
    pub(crate) interval: Option<[f64; 2]>,
    /// First and third quartile.
    pub(crate) quartiles: [f64; 2],
}

impl Estimate {
    /// Summarizes `values`, in any order; `None` if there are none or one is not a number.
    pub(crate) fn from_values(values: &[f64]) -> Option<Self> {
        let middle = quartiles(values).ok()?;
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            n: values.len(),
            median: middle.median,
            interval: median_interval(&sorted),
            quartiles: [middle.q1, middle.q3],
        })
    }

    /// Creates the estimate of a figure that is counted, or measured once by its nature.
    pub(crate) fn single(value: f64) -> Self {
        Self { n: 1, median: value, interval: None, quartiles: [value; 2] }
    }
}

/// Returns the 95 % interval of the median, from the order statistics of `sorted`.
///
/// Each value lies below the true median with probability 1/2, whatever the distribution, so the number of such values
/// is binomial. The interval between the k-th smallest and the k-th largest value misses the median with probability 2
/// P(fewer than k), and k is the largest number that keeps this at 5 % or less. Reference: W. J. Conover, *Practical
/// Nonparametric Statistics*, 3rd ed. (1999), section 3.2, "Confidence interval for a quantile".
fn median_interval(sorted: &[f64]) -> Option<[f64; 2]> {
    let rank = lower_rank(sorted.len())?;
    Some([sorted[rank - 1], sorted[sorted.len() - rank]])
}

/// Returns the largest k, from 1, with P(Binomial(n, 1/2) < k) at most 2.5 %. Beyond a thousand values the first terms
/// may underflow; they are too small to matter.
#[allow(clippy::cast_precision_loss, reason = "counts of runs")]
fn lower_rank(n: usize) -> Option<usize> {
    let mut rank = 0;
    let mut logarithm = n as f64 * 0.5_f64.ln();
    let mut below = logarithm.exp();
    while rank < n && below <= 0.025 {
        rank += 1;
        logarithm += ((n - rank + 1) as f64 / rank as f64).ln();
        below += logarithm.exp();
    }
    (rank > 0).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks from published tables of the two-sided sign test at 5 %.
    #[test]
    fn ranks_are_those_of_the_tables() {
        let known = [(5, None), (6, Some(1)), (8, Some(1)), (9, Some(2)), (12, Some(3))];
        for (n, rank) in known.into_iter().chain([(20, Some(6)), (25, Some(8)), (50, Some(18))]) {
            assert_eq!(lower_rank(n), rank, "{n}");
        }
        assert_eq!(lower_rank(400), Some(180));
        assert_eq!(lower_rank(5_000), Some(2_431));
    }

    #[test]
    fn the_interval_is_made_of_values_and_holds_the_median() {
        let values: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        let estimate = Estimate::from_values(&values).unwrap();
        assert_eq!(estimate.interval, Some([6.0, 15.0]));
        assert!((estimate.median - 10.5).abs() < 1e-12);
        assert_eq!(Estimate::from_values(&values[..5]).unwrap().interval, None);
        assert_eq!(Estimate::from_values(&[]), None);
    }

    /// Random generator that is good enough for a coverage check (Marsaglia's xorshift64, 2003).
    fn next(state: &mut u64) -> f64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        f64::from(u32::try_from(*state >> 32).unwrap()) / f64::from(u32::MAX)
    }

    #[test]
    fn the_interval_covers_the_true_median_about_as_often_as_it_says() {
        let mut state = 2_463_534_242;
        let covers = |state: &mut u64| {
            let values: Vec<f64> = (0..30).map(|_| next(state).powi(3)).collect();
            let [low, high] = Estimate::from_values(&values).unwrap().interval.unwrap();
            (low..=high).contains(&0.125)
        };
        let covered = (0..4_000).filter(|_| covers(&mut state)).count();
        assert!((3_780..3_960).contains(&covered), "{covered} of 4000");
    }
}
