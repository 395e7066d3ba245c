//! The Mann-Whitney U test: whether values of one set tend to exceed those of another.

use crate::{
    degenerate::{Degenerate, check_count, check_finite},
    moments::as_f64,
    ranks::{Ranks, choice_sum_distribution},
    test_result::{Alternative, Method, NullDistribution, Tails, TestResult},
};

/// Maximum number of pairs, of one value from each set, for which the exact distribution is computed; it takes
/// milliseconds.
const MAX_EXACT: usize = 40_000;
/// Maximum number of values in both sets together for which permutations are counted: computing time grows with its
/// fourth power.
const MAX_PERMUTED: usize = 120;

/// Tests whether values of `first` tend to be less or greater than those of `second`: the U test of Mann and Whitney
/// (1947, *On a Test of Whether One of Two Random Variables is Stochastically Larger than the Other*, Annals of
/// Mathematical Statistics 18). The sets must be independent; under the null hypothesis both have the same
/// distribution.
///
/// The statistic is the U of `first`: the number of pairs in which its value is the greater, ties counted half.
/// [`Method::Auto`] is exact wherever possible: without ties [`Method::Exact`] up to 40,000 pairs, with ties
/// [`Method::Permutation`], the distribution given those ties, up to 120 values; beyond that normal with continuity
/// correction. `SciPy` 1.17 does not use the exact distribution if both sets have more than eight values, or if two
/// values are tied: its smallest p-value for ten and ten values is 1.8e-4, where the exact one is 1.1e-5.
///
/// # Errors
///
/// Returns an error for an empty set, a value that is not finite, all values equal, more than 40,000 pairs for an exact
/// distribution, and more than 120 values for permutations.
pub fn mann_whitney(
    first: &[f64],
    second: &[f64],
    alternative: Alternative,
    method: Method,
) -> Result<TestResult, Degenerate> {
    let ranked = RankedSets::from_sets(first, second)?;
    let (tails, used) = ranked.tails(method)?;
    Ok(TestResult {
        statistic: as_f64(ranked.doubled_u) / 2.0,
        p_value: tails.p_value(alternative),
        n: first.len() + second.len(),
        distribution: used,
        alternative,
    })
}

struct RankedSets {
    first: usize,
    second: usize,
    ranks: Ranks,
    /// Twice the U of the first set.
    doubled_u: usize,
}

impl RankedSets {
    fn from_sets(first: &[f64], second: &[f64]) -> Result<Self, Degenerate> {
        check_count(first, 1)?;
        check_count(second, 1)?;
        check_finite(first)?;
        check_finite(second)?;
        let ranks = Ranks::from_values(&[first, second].concat());
        if ranks.groups.len() == 1 {
            return Err(Degenerate::NoSpread);
        }
        let n = first.len();
        let doubled_u = ranks.doubled[..n].iter().sum::<usize>() - n * (n + 1);
        Ok(Self { first: n, second: second.len(), ranks, doubled_u })
    }

    fn tails(&self, method: Method) -> Result<(Tails, NullDistribution), Degenerate> {
        match self.resolve_method(method) {
            NullDistribution::Exact => {
                check_at_most(self.pairs(), MAX_EXACT)?;
                Ok((self.exact(), NullDistribution::Exact))
            }
            NullDistribution::Permutation => {
                check_at_most(self.first + self.second, MAX_PERMUTED)?;
                Ok((self.permutation(), NullDistribution::Permutation))
            }
            used => Ok((self.normal(used), used)),
        }
    }

    fn resolve_method(&self, method: Method) -> NullDistribution {
        let (tied, values) = (self.ranks.has_ties(), self.first + self.second);
        match method {
            Method::Exact => NullDistribution::Exact,
            Method::Permutation => NullDistribution::Permutation,
            Method::Normal => NullDistribution::Normal,
            Method::NormalCorrected => NullDistribution::NormalCorrected,
            Method::Auto if !tied && self.pairs() <= MAX_EXACT => NullDistribution::Exact,
            Method::Auto if tied && values <= MAX_PERMUTED => NullDistribution::Permutation,
            Method::Auto => NullDistribution::NormalCorrected,
        }
    }

    fn pairs(&self) -> usize {
        self.first * self.second
    }

    fn exact(&self) -> Tails {
        let chances = u_distribution(self.first, self.second);
        Tails::at(&chances, self.doubled_u.div_ceil(2), self.doubled_u / 2)
    }

    /// Computed from the smaller set, which is faster: the upper tail of one set is the lower tail of the other.
    fn permutation(&self) -> Tails {
        let of = |take: usize, place: usize| {
            Tails::at(&choice_sum_distribution(&self.ranks.doubled, take), place, place)
        };
        let place = self.doubled_u + self.first * (self.first + 1);
        if self.first <= self.second {
            return of(self.first, place);
        }
        let Tails { lower, upper } =
            of(self.second, self.ranks.doubled.iter().sum::<usize>() - place);
        Tails { lower: upper, upper: lower }
    }

    /// Normal approximation. With continuity correction, each tail uses a U shifted by 1/2 towards the mean.
    fn normal(&self, used: NullDistribution) -> Tails {
        let (n, pairs) = (as_f64(self.first + self.second), as_f64(self.pairs()));
        let variance = pairs / 12.0 * (n + 1.0 - self.ranks.tie_term() / (n * (n - 1.0)));
        let away = as_f64(self.doubled_u) / 2.0 - pairs / 2.0;
        let towards = if used == NullDistribution::NormalCorrected { 0.5 } else { 0.0 };
        Tails {
            lower: Tails::normal((away + towards) / variance.sqrt()).lower,
            upper: Tails::normal((away - towards) / variance.sqrt()).upper,
        }
    }
}

fn check_at_most(given: usize, max: usize) -> Result<(), Degenerate> {
    if given > max { Err(Degenerate::TooMany { given, max }) } else { Ok(()) }
}

/// Distribution of U for sets of `n` and `m` values without ties. The counts are the coefficients of the Gaussian
/// binomial, the product over i to n of `(1 - q^(m + i)) / (1 - q^i)` (Mann and Whitney 1947; Andrews 1976, *The Theory
/// of Partitions*, chapter 3): each factor is a sum over a window in steps of i. Only the rising half is summed, in
/// which the subtracted terms never exceed the remaining sum; the other half is its mirror image.
fn u_distribution(n: usize, m: usize) -> Vec<f64> {
    let (few, many) = (n.min(m), n.max(m));
    let mut chances = vec![1.0];
    for i in 1..=few {
        let (share, last) = (as_f64(i) / as_f64(many + i), i * many);
        let at = |u: Option<usize>| u.and_then(|u| chances.get(u)).copied().unwrap_or(0.0);
        let mut window = vec![0.0; last + 1];
        for u in 0..=last / 2 {
            let before = if u >= i { window[u - i] } else { 0.0 };
            window[u] = before + (at(Some(u)) - at(u.checked_sub(many + i)));
        }
        for u in 0..=last / 2 {
            window[u] *= share;
            window[last - u] = window[u];
        }
        chances = window;
    }
    chances
}
