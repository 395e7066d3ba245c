//! Kendall's tau: whether two quantities rise together, by pairs.

use std::cmp::Ordering;

use crate::{
    degenerate::{Degenerate, check_count, check_finite, check_pairs},
    moments::as_f64,
    ranks::Ranks,
    test_result::{Alternative, NullDistribution, Tails, TestResult},
};

/// Maximum number of pairs for which the complete exact distribution is computed.
const MAX_EXACT: usize = 170;
/// Maximum number of pairs for which `SciPy` uses the exact distribution, without ties.
const AUTO_EXACT: usize = 33;

/// Distribution that the p-value of Kendall's tau comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KendallMethod {
    /// As in `SciPy` 1.17: exact without ties if there are up to 33 pairs, or if at most one pair of pairs is
    /// discordant (or at most one is concordant); otherwise normal.
    Auto,
    /// Exact distribution, which allows no ties.
    Exact,
    /// Normal approximation with correction for ties.
    Normal,
}

/// Tests whether `first` and `second` rise together, by tau-b (Kendall 1945, *The Treatment of Ties in Ranking
/// Problems*, Biometrika 33): 1 if every pair of pairs is in the same order, -1 if none is. The p-value follows Kendall
/// (1970, *Rank Correlation Methods*). Computing time grows with the square of the length.
///
/// # Errors
///
/// Returns an error for different lengths, fewer than two pairs (three for the normal approximation), a value that is
/// not finite, all values of one side equal, ties under [`KendallMethod::Exact`], or more than 170 pairs there.
pub fn kendall(
    first: &[f64],
    second: &[f64],
    alternative: Alternative,
    method: KendallMethod,
) -> Result<TestResult, Degenerate> {
    check_pairs(first, second)?;
    check_count(first, 2)?;
    check_finite(first)?;
    check_finite(second)?;
    let order = PairOrder::from_sets(first, second)?;
    let (tails, used) = order.tails(method)?;
    let p_value = tails.p_value(alternative);
    Ok(TestResult {
        statistic: order.tau(),
        p_value,
        n: first.len(),
        distribution: used,
        alternative,
    })
}

/// Counts of concordant and discordant pairs.
struct PairOrder {
    n: usize,
    /// Number of pairs of pairs.
    total: usize,
    discordant: usize,
    /// Concordant pairs minus discordant ones.
    excess: f64,
    first: Ranks,
    second: Ranks,
}

impl PairOrder {
    fn from_sets(first: &[f64], second: &[f64]) -> Result<Self, Degenerate> {
        let n = first.len();
        let (mut concordant, mut discordant) = (0, 0);
        for i in 0..n {
            for j in 0..i {
                match compare(first, i, j).zip(compare(second, i, j)) {
                    Some((a, b)) if a == b => concordant += 1,
                    Some(_) => discordant += 1,
                    None => {}
                }
            }
        }
        let (first, second) = (Ranks::from_values(first), Ranks::from_values(second));
        if first.groups.len() == 1 || second.groups.len() == 1 {
            return Err(Degenerate::NoSpread);
        }
        let excess = as_f64(concordant) - as_f64(discordant);
        Ok(Self { n, total: n * (n - 1) / 2, discordant, excess, first, second })
    }

    fn tau(&self) -> f64 {
        let untied = |ranks: &Ranks| as_f64(self.total) - ranks.sum_over_groups(tied_pairs);
        let tau = self.excess / (untied(&self.first).sqrt() * untied(&self.second).sqrt());
        tau.clamp(-1.0, 1.0)
    }

    fn has_ties(&self) -> bool {
        self.first.has_ties() || self.second.has_ties()
    }

    fn tails(&self, method: KendallMethod) -> Result<(Tails, NullDistribution), Degenerate> {
        let rarer = self.discordant.min(self.total - self.discordant);
        let few = self.n <= AUTO_EXACT || rarer <= 1;
        match method {
            KendallMethod::Exact if self.has_ties() => Err(Degenerate::Tied),
            KendallMethod::Exact if self.n > MAX_EXACT && rarer > 1 => {
                Err(Degenerate::TooMany { given: self.n, max: MAX_EXACT })
            }
            KendallMethod::Exact => Ok((self.exact(rarer), NullDistribution::Exact)),
            KendallMethod::Auto if few && !self.has_ties() => {
                Ok((self.exact(rarer), NullDistribution::Exact))
            }
            _ if self.n < 3 => Err(Degenerate::TooFew { given: self.n, needed: 3 }),
            _ => Ok((self.normal(), NullDistribution::Normal)),
        }
    }

    /// Exact tails. `rarer` pairs are in the rarer order: the tail on that side is summed, and the other is its
    /// complement.
    fn exact(&self, rarer: usize) -> Tails {
        let chances = inversion_distribution(self.n, rarer);
        let outer: f64 = chances.iter().sum();
        let inner = 1.0 - outer + chances[rarer];
        if self.discordant == rarer {
            Tails { lower: inner, upper: outer }
        } else {
            Tails { lower: outer, upper: inner }
        }
    }

    fn normal(&self) -> Tails {
        let n = as_f64(self.n);
        let m = n * (n - 1.0);
        let both = |term: fn(f64) -> f64| {
            (self.first.sum_over_groups(term), self.second.sum_over_groups(term))
        };
        let (pairs_1, pairs_2) = both(tied_pairs);
        let (triples_1, triples_2) = both(|t| t * (t - 1.0) * (t - 2.0));
        let (spread_1, spread_2) = both(|t| t * (t - 1.0) * (2.0 * t + 5.0));
        let variance = (m * (2.0 * n + 5.0) - spread_1 - spread_2) / 18.0
            + 2.0 * pairs_1 * pairs_2 / m
            + triples_1 * triples_2 / (9.0 * m * (n - 2.0));
        Tails::normal(self.excess / variance.sqrt())
    }
}

fn tied_pairs(t: f64) -> f64 {
    t * (t - 1.0) / 2.0
}

/// Compares two values; `None` if they are tied.
fn compare(values: &[f64], i: usize, j: usize) -> Option<Ordering> {
    values[i].partial_cmp(&values[j]).filter(|order| order.is_ne())
}

/// Probabilities that a random order of `n` has 0 to `max` inversions. Inserting the k-th element adds 0 to k - 1 of
/// them.
fn inversion_distribution(n: usize, max: usize) -> Vec<f64> {
    let mut chances = vec![0.0; max + 1];
    chances[0] = 1.0;
    for k in 2..=n {
        let before = chances.clone();
        for (inversions, chance) in chances.iter_mut().enumerate() {
            let from = (inversions + 1).saturating_sub(k);
            *chance = before[from..=inversions].iter().sum::<f64>() / as_f64(k);
        }
    }
    chances
}
