//! Whether values of one set tend to exceed those of another: the U test.

use crate::{
    degenerate::{Degenerate, enough, finite},
    moments::count,
    ranks::{Ranks, sums_of_choices},
    tested::{Alternative, Method, Tails, Tested, Used},
};

/// Pairs of one value from either set up to which the exact distribution is computed.
const MOST_EXACT: usize = 40_000;
/// Values in both sets together up to which permutations are counted.
const MOST_PERMUTED: usize = 120;
/// With no more values than these in one set, and no ties, `SciPy` takes the exact distribution.
const AUTO_EXACT: usize = 8;

/// Whether values of `first` tend to be less or greater than those of `second`: the U test of Mann and
/// Whitney (1947, *On a Test of Whether One of Two Random Variables is Stochastically Larger than the
/// Other*, Annals of Mathematical Statistics 18). Sets are independent; under no difference both have one
/// distribution.
///
/// The statistic is the U of `first`: pairs in which its value is the greater, ties counted half.
/// [`Method::Auto`] is the rule of `SciPy` 1.17, exact where a set has eight values or fewer and none are
/// tied, otherwise normal with correction; and normal for more than 40,000 pairs.
///
/// # Errors
///
/// A set without values, one that is not finite, all values equal, or for an exact distribution more than
/// 40,000 pairs, and for permutations more than 120 values.
pub fn mann_whitney(
    first: &[f64],
    second: &[f64],
    alternative: Alternative,
    method: Method,
) -> Result<Tested, Degenerate> {
    let ranked = RankedSets::of(first, second)?;
    let (tails, used) = ranked.tails(method)?;
    Ok(Tested {
        statistic: count(ranked.doubled_u) / 2.0,
        p_value: tails.p_value(alternative),
        n: first.len() + second.len(),
        used,
        alternative,
    })
}

struct RankedSets {
    first: usize,
    second: usize,
    ranks: Ranks,
    /// Twice the U of the first.
    doubled_u: usize,
}

impl RankedSets {
    fn of(first: &[f64], second: &[f64]) -> Result<Self, Degenerate> {
        enough(first, 1)?;
        enough(second, 1)?;
        finite(first)?;
        finite(second)?;
        let ranks = Ranks::of(&[first, second].concat());
        if ranks.groups.len() == 1 {
            return Err(Degenerate::NoSpread);
        }
        let n = first.len();
        let doubled_u = ranks.doubled[..n].iter().sum::<usize>() - n * (n + 1);
        Ok(Self { first: n, second: second.len(), ranks, doubled_u })
    }

    fn tails(&self, method: Method) -> Result<(Tails, Used), Degenerate> {
        match self.resolved(method) {
            Used::Exact => {
                within(self.pairs(), MOST_EXACT)?;
                Ok((self.exact(), Used::Exact))
            }
            Used::Permutation => {
                within(self.first + self.second, MOST_PERMUTED)?;
                Ok((self.permutation(), Used::Permutation))
            }
            used => Ok((self.normal(used), used)),
        }
    }

    fn resolved(&self, method: Method) -> Used {
        let few = self.first.min(self.second) <= AUTO_EXACT && self.pairs() <= MOST_EXACT;
        match method {
            Method::Exact => Used::Exact,
            Method::Permutation => Used::Permutation,
            Method::Normal => Used::Normal,
            Method::NormalCorrected => Used::NormalCorrected,
            Method::Auto if few && !self.ranks.tied() => Used::Exact,
            Method::Auto => Used::NormalCorrected,
        }
    }

    fn pairs(&self) -> usize {
        self.first * self.second
    }

    fn exact(&self) -> Tails {
        let chances = chances_of_u(self.first, self.second);
        Tails::at(&chances, self.doubled_u.div_ceil(2), self.doubled_u / 2)
    }

    fn permutation(&self) -> Tails {
        let place = self.doubled_u + self.first * (self.first + 1);
        Tails::at(&sums_of_choices(&self.ranks.doubled, self.first), place, place)
    }

    /// Corrected, either tail is that of a U half a step nearer to it.
    fn normal(&self, used: Used) -> Tails {
        let (n, pairs) = (count(self.first + self.second), count(self.pairs()));
        let variance = pairs / 12.0 * (n + 1.0 - self.ranks.tie_term() / (n * (n - 1.0)));
        let away = count(self.doubled_u) / 2.0 - pairs / 2.0;
        let towards = if used == Used::NormalCorrected { 0.5 } else { 0.0 };
        Tails {
            lower: Tails::normal((away + towards) / variance.sqrt()).lower,
            upper: Tails::normal((away - towards) / variance.sqrt()).upper,
        }
    }
}

fn within(given: usize, most: usize) -> Result<(), Degenerate> {
    if given > most { Err(Degenerate::TooMany { given, most }) } else { Ok(()) }
}

/// The distribution of U for sets of `n` and `m` values without ties, by the recurrence of Mann and
/// Whitney (1947): the greatest value of all is of the first set with probability n / (n + m), and then
/// exceeds all m of the second.
fn chances_of_u(n: usize, m: usize) -> Vec<f64> {
    // By the number of values of the second set, for as many of the first as were gone through.
    let mut rows: Vec<Vec<f64>> = vec![vec![1.0]; m + 1];
    for i in 1..=n {
        for j in 1..=m {
            let share = count(i) / count(i + j);
            let mut chances = vec![0.0; i * j + 1];
            for (u, p) in rows[j].iter().enumerate() {
                chances[u + j] += share * p;
            }
            for (u, p) in rows[j - 1].iter().enumerate() {
                chances[u] += (1.0 - share) * p;
            }
            rows[j] = chances;
        }
    }
    rows.swap_remove(m)
}
