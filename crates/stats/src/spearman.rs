//! Spearman's rho: whether two quantities rise together, by ranks.

use crate::{
    degenerate::{Degenerate, check_count, check_finite, check_pairs},
    moments::as_f64,
    ranks::Ranks,
    student::tails,
    test_result::{Alternative, NullDistribution, TestResult},
};

/// Maximum number of pairs for which the sums of ranks are exact.
const MAX_PAIRS: usize = 1 << 20;

/// Tests whether `first` and `second` rise together, by the correlation of their ranks (Spearman 1904, *The Proof and
/// Measurement of Association between Two Things*, American Journal of Psychology 15); ties share their mean rank. The
/// p-value treats `rho sqrt((n - 2) / (1 - rho^2))` as t with n - 2 degrees of freedom (Kendall 1970), which is
/// approximate for few pairs, and 0 at a rho of 1 or -1.
///
/// # Errors
///
/// Returns an error for different lengths, fewer than three pairs or more than 2^20, a value that is not finite, or all
/// values of one side equal.
pub fn spearman(
    first: &[f64],
    second: &[f64],
    alternative: Alternative,
) -> Result<TestResult, Degenerate> {
    check_pairs(first, second)?;
    check_count(first, 3)?;
    check_finite(first)?;
    check_finite(second)?;
    let n = first.len();
    if n > MAX_PAIRS {
        return Err(Degenerate::TooMany { given: n, max: MAX_PAIRS });
    }
    let products =
        RankProducts::from_ranks(&Ranks::from_values(first), &Ranks::from_values(second));
    let degrees = as_f64(n - 2);
    Ok(TestResult {
        statistic: products.rho().ok_or(Degenerate::NoSpread)?,
        p_value: tails(products.rho_over_rest() * degrees.sqrt(), degrees).p_value(alternative),
        n,
        distribution: NullDistribution::StudentT { degrees },
        alternative,
    })
}

/// Sums of squares and products of centered ranks. They are integers, so that no digits are lost if rho is close to 1.
struct RankProducts {
    first: i128,
    second: i128,
    both: i128,
}

impl RankProducts {
    fn from_ranks(first: &Ranks, second: &Ranks) -> Self {
        let n = first.doubled.len();
        let centered = |rank: usize| rank as i128 - (n + 1) as i128;
        let sum = |a: &Ranks, b: &Ranks| {
            a.doubled.iter().zip(&b.doubled).map(|(&a, &b)| centered(a) * centered(b)).sum()
        };
        Self { first: sum(first, first), second: sum(second, second), both: sum(first, second) }
    }

    #[allow(clippy::cast_precision_loss, reason = "the last step")]
    fn rho(&self) -> Option<f64> {
        let spread = (self.first as f64).sqrt() * (self.second as f64).sqrt();
        (spread > 0.0).then(|| (self.both as f64 / spread).clamp(-1.0, 1.0))
    }

    /// `rho / sqrt(1 - rho^2)`; infinite if rho is 1 or -1.
    #[allow(clippy::cast_precision_loss, reason = "the last step")]
    fn rho_over_rest(&self) -> f64 {
        let rest = self.first * self.second - self.both * self.both;
        self.both as f64 / (rest as f64).sqrt()
    }
}
