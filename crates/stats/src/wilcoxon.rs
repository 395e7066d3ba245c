//! Wilcoxon's signed-rank test: whether differences lie symmetrically around 0.

use crate::{
    degenerate::{Degenerate, check_count, check_finite},
    moments::as_f64,
    ranks::{Ranks, subset_sum_distribution},
    test_result::{Alternative, Method, NullDistribution, Tails, TestResult},
};

/// Maximum number of differences for an exact distribution; the normal one is close long before.
const MAX_EXACT: usize = 500;
/// Maximum number of differences for which `SciPy` uses the exact distribution, without ties and zeros.
const AUTO_EXACT: usize = 50;
/// Maximum number of differences for which it goes through all signs, with ties or zeros.
const AUTO_PERMUTATION: usize = 13;

/// Treatment of differences that are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zeros {
    /// They are dropped before ranking (Wilcoxon 1945). `SciPy`: `wilcox`.
    Drop,
    /// They are ranked, and their ranks are then dropped (Pratt 1959). `SciPy`: `pratt`.
    Pratt,
    /// They are ranked, and half of their ranks goes to each side. `SciPy`: `zsplit`.
    Split,
}

/// Tests whether `differences` lie symmetrically around 0: Wilcoxon's signed-rank test (1945, *Individual Comparisons
/// by Ranking Methods*, Biometrics 1; zeros: Pratt 1959, *Remarks on Zeros and Ties*, JASA 54; normal approximation
/// with them: Cureton 1967, JASA 62).
///
/// The statistic is the sum of the ranks of the positive differences; for [`Alternative::TwoSided`] it is the smaller
/// of that and the sum of the ranks of the negative ones. [`Method::Auto`] is the rule of `SciPy` 1.17: exact up to 50
/// differences without ties and zeros, permutation up to 13 with them, otherwise normal without correction. With zeros,
/// [`Method::Exact`] under [`Zeros::Pratt`] is asymmetric, in `SciPy` as well: use [`Method::Permutation`], which is
/// valid for any number of ties and zeros. `n` is the number of ranked differences.
///
/// # Errors
///
/// Returns an error for no differences, one that is not finite, all of them 0, or more than 500 for an exact
/// distribution.
pub fn wilcoxon(
    differences: &[f64],
    alternative: Alternative,
    zeros: Zeros,
    method: Method,
) -> Result<TestResult, Degenerate> {
    let signed = SignedRanks::from_differences(differences, zeros)?;
    let (tails, used) = signed.tails(method, alternative)?;
    let (plus, minus) = signed.sums();
    let statistic = if alternative == Alternative::TwoSided { plus.min(minus) } else { plus };
    let p_value = tails.p_value(alternative);
    Ok(TestResult { statistic, p_value, n: signed.n, distribution: used, alternative })
}

/// Matched-pairs rank-biserial correlation: the ranks of the positive `differences` minus those of the negative ones,
/// divided by the sum of all ranks; zeros are left out (King, Rosopa and Minium 2011, *Statistical Reasoning in the
/// Behavioral Sciences*; Kerby 2014, *The Simple Difference Formula*, Comprehensive Psychology 3). From -1, if all are
/// below 0, to 1.
///
/// # Errors
///
/// Returns an error for no differences, one that is not finite, or all of them 0.
pub fn rank_biserial(differences: &[f64]) -> Result<f64, Degenerate> {
    let (plus, minus) = SignedRanks::from_differences(differences, Zeros::Drop)?.sums();
    Ok((plus - minus) / (plus + minus))
}

/// Differences, ranked by their distance from 0.
struct SignedRanks {
    /// Number of ranked differences.
    n: usize,
    /// Number of zeros among them.
    zeros: usize,
    /// Number of zeros dropped.
    dropped: usize,
    handling: Zeros,
    ranks: Ranks,
    /// Twice the sums of ranks of positive and negative differences, each with its share of zeros.
    plus: usize,
    minus: usize,
    /// Twice the ranks of all differences that are not 0.
    weights: Vec<usize>,
    /// Twice the share of zeros in each sum.
    shared: usize,
}

impl SignedRanks {
    fn from_differences(differences: &[f64], handling: Zeros) -> Result<Self, Degenerate> {
        check_count(differences, 1)?;
        check_finite(differences)?;
        if differences.iter().all(|&difference| difference == 0.0) {
            return Err(Degenerate::AllZero);
        }
        let ranked: Vec<f64> = differences
            .iter()
            .copied()
            .filter(|&difference| handling != Zeros::Drop || difference != 0.0)
            .collect();
        let distances: Vec<f64> = ranked.iter().map(|difference| difference.abs()).collect();
        let ranks = Ranks::from_values(&distances);
        let sum = |side: fn(f64) -> bool| -> usize {
            let pairs = ranked.iter().zip(&ranks.doubled);
            pairs.filter(|(difference, _)| side(**difference)).map(|(_, rank)| rank).sum()
        };
        let zeros = ranked.iter().filter(|&&difference| difference == 0.0).count();
        // The ranks of z zeros are 1 to z: half of twice their sum.
        let shared = if handling == Zeros::Split { zeros * (zeros + 1) / 2 } else { 0 };
        let not_zero =
            ranked.iter().zip(&ranks.doubled).filter(|(difference, _)| **difference != 0.0);
        Ok(Self {
            n: ranked.len(),
            zeros,
            dropped: differences.len() - ranked.len(),
            handling,
            plus: sum(|difference| difference > 0.0) + shared,
            minus: sum(|difference| difference < 0.0) + shared,
            weights: not_zero.map(|(_, &rank)| rank).collect(),
            shared,
            ranks,
        })
    }

    /// Sums of ranks of positive and of negative differences.
    fn sums(&self) -> (f64, f64) {
        (as_f64(self.plus) / 2.0, as_f64(self.minus) / 2.0)
    }

    fn tails(
        &self,
        method: Method,
        alternative: Alternative,
    ) -> Result<(Tails, NullDistribution), Degenerate> {
        let max = MAX_EXACT;
        match self.resolve_method(method) {
            NullDistribution::Exact | NullDistribution::Permutation if self.n > max => {
                Err(Degenerate::TooMany { given: self.n, max })
            }
            NullDistribution::Exact => Ok((self.exact(), NullDistribution::Exact)),
            NullDistribution::Permutation => {
                Ok((self.permutation(), NullDistribution::Permutation))
            }
            used => Ok((self.normal(used, alternative), used)),
        }
    }

    fn resolve_method(&self, method: Method) -> NullDistribution {
        let given = self.n + self.dropped;
        let has_ties_or_zeros = self.zeros + self.dropped > 0 || self.ranks.has_ties();
        match method {
            Method::Exact => NullDistribution::Exact,
            Method::Permutation => NullDistribution::Permutation,
            Method::Normal => NullDistribution::Normal,
            Method::NormalCorrected => NullDistribution::NormalCorrected,
            Method::Auto if given <= AUTO_EXACT && !has_ties_or_zeros => NullDistribution::Exact,
            Method::Auto if given <= AUTO_PERMUTATION => NullDistribution::Permutation,
            Method::Auto => NullDistribution::Normal,
        }
    }

    fn exact(&self) -> Tails {
        // With ties or zeros the statistic may not be an integer; it is rounded such that each tail becomes the
        // greater.
        Tails::at(&subset_sum_distribution(1..=self.n), self.plus.div_ceil(2), self.plus / 2)
    }

    fn permutation(&self) -> Tails {
        let place = self.plus - self.shared;
        Tails::at(&subset_sum_distribution(self.weights.iter().copied()), place, place)
    }

    fn normal(&self, used: NullDistribution, alternative: Alternative) -> Tails {
        let (n, zeros) = (as_f64(self.n), as_f64(self.zeros));
        let cubic = |k: f64| k * (k + 1.0) * (2.0 * k + 1.0);
        let (mut mean, mut variance) = (n * (n + 1.0) / 4.0, cubic(n));
        let mut tie_term = self.ranks.tie_term();
        if self.handling == Zeros::Pratt {
            mean -= zeros * (zeros + 1.0) / 4.0;
            variance -= cubic(zeros);
            tie_term -= zeros * (zeros - 1.0) * (zeros + 1.0);
        }
        let error = ((variance - tie_term / 2.0) / 24.0).sqrt();
        let away = self.sums().0 - mean;
        let towards = match (used, alternative) {
            (NullDistribution::NormalCorrected, Alternative::Greater) => 0.5,
            (NullDistribution::NormalCorrected, Alternative::Less) => -0.5,
            (NullDistribution::NormalCorrected, Alternative::TwoSided) if away != 0.0 => {
                0.5 * away.signum()
            }
            _ => 0.0,
        };
        Tails::normal((away - towards) / error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by hand: the absolute values of 1, -2, 2 and 5 have the ranks 1, 2.5, 2.5 and 4.
    #[test]
    fn the_rank_biserial_correlation_is_that_of_the_ranks() {
        assert_eq!(rank_biserial(&[1.0, -2.0, 2.0, 0.0, 5.0]), Ok(0.5));
        assert_eq!(rank_biserial(&[-1.0, -3.0]), Ok(-1.0));
        assert_eq!(rank_biserial(&[0.0]), Err(Degenerate::AllZero));
    }

    /// Computed by hand: of the 8 ways to sign the ranks 1.5, 1.5 and 3, one gives 6 and none more.
    #[test]
    fn permutations_count_the_signs() {
        let tested = wilcoxon(&[1.0, 1.0, 2.0], Alternative::Greater, Zeros::Drop, Method::Auto);
        let tested = tested.unwrap();
        assert_eq!((tested.statistic, tested.p_value, tested.n), (6.0, 0.125, 3));
        assert_eq!(tested.distribution, NullDistribution::Permutation);
    }
}
