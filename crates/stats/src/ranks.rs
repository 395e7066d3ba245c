//! Ranks, and the distributions of their sums under the null hypothesis.

use crate::moments::as_f64;

/// Ranks of a set of values, and their ties.
pub(crate) struct Ranks {
    /// Twice the rank of each value, counted from 1; doubled because ties share their mean rank, which may be a half.
    pub(crate) doubled: Vec<usize>,
    /// Size of each group of equal values, ascending by value.
    pub(crate) groups: Vec<usize>,
}

impl Ranks {
    /// Ranks `values`, which are finite.
    pub(crate) fn from_values(values: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let (mut doubled, mut groups, mut before) = (vec![0; values.len()], Vec::new(), 0);
        for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
            for &place in equal {
                doubled[place] = 2 * before + equal.len() + 1;
            }
            before += equal.len();
            groups.push(equal.len());
        }
        Self { doubled, groups }
    }

    pub(crate) fn has_ties(&self) -> bool {
        self.groups.iter().any(|&equal| equal > 1)
    }

    /// Sum of `t^3 - t` over the groups, by which every correction for ties reduces a variance.
    pub(crate) fn tie_term(&self) -> f64 {
        self.sum_over_groups(|t| t * (t - 1.0) * (t + 1.0))
    }

    /// Sum of `term` over the sizes of the groups.
    pub(crate) fn sum_over_groups(&self, term: impl Fn(f64) -> f64) -> f64 {
        self.groups.iter().map(|&equal| term(as_f64(equal))).sum()
    }
}

/// Distribution of the sum of `weights`, each included with probability 1/2: the probability of every sum from 0 on.
pub(crate) fn subset_sum_distribution(weights: impl IntoIterator<Item = usize>) -> Vec<f64> {
    let mut chances = vec![1.0];
    for weight in weights {
        let without = chances.len();
        chances.resize(without + weight, 0.0);
        for sum in (0..chances.len()).rev() {
            let stays = if sum < without { chances[sum] } else { 0.0 };
            let grows = if sum >= weight { chances[sum - weight] } else { 0.0 };
            chances[sum] = f64::midpoint(stays, grows);
        }
    }
    chances
}

/// Distribution of the sum of `take` of the `weights`, all choices being equally likely: the probability of every sum
/// from 0 on.
pub(crate) fn choice_sum_distribution(weights: &[usize], take: usize) -> Vec<f64> {
    let total: usize = weights.iter().sum();
    let mut taken = vec![vec![0.0; total + 1]; take + 1];
    taken[0][0] = 1.0;
    let mut reach = 0;
    for (seen, &weight) in weights.iter().enumerate() {
        let left = as_f64(weights.len() - seen);
        reach += weight;
        for already in (0..=take.min(seen)).rev() {
            // Probability that the next weight is chosen, given that `already` are.
            let chance = as_f64(take - already) / left;
            let (fewer, more) = taken.split_at_mut(already + 1);
            let here = &mut fewer[already];
            if let Some(next) = more.first_mut() {
                for (next, here) in next[weight..=reach].iter_mut().zip(&*here) {
                    *next += chance * here;
                }
            }
            here[..=reach].iter_mut().for_each(|p| *p *= 1.0 - chance);
        }
    }
    taken.swap_remove(take)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_mean_rank() {
        let ranks = Ranks::from_values(&[3.0, 1.0, 3.0, 2.0, 3.0]);
        assert_eq!(ranks.doubled, [8, 2, 8, 4, 8]);
        assert_eq!(ranks.groups, [1, 1, 3]);
        assert_eq!(ranks.tie_term(), 24.0);
        assert!(Ranks::from_values(&[0.0, -0.0]).has_ties());
    }

    #[test]
    fn sums_are_counted() {
        let chances: Vec<f64> =
            subset_sum_distribution([1, 2, 3]).iter().map(|p| p * 8.0).collect();
        assert_eq!(chances, [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]);
        let chances: Vec<f64> =
            choice_sum_distribution(&[1, 2, 3, 3], 2).iter().map(|p| p * 6.0).collect();
        for (chance, ways) in chances.iter().zip([0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 1.0, 0.0, 0.0, 0.0])
        {
            assert!((chance - ways).abs() < 1e-12, "{chances:?}");
        }
    }
}
