//! Whether two quantities rise together, by ranks: Spearman's rho.

use crate::{
    degenerate::{Degenerate, enough, finite, pairs},
    moments::count,
    ranks::Ranks,
    student::tails,
    tested::{Alternative, Tested, Used},
};

/// More pairs would not leave the sums of their ranks exact.
const MOST: usize = 1 << 20;

/// Whether `first` and `second` rise together: the correlation of their ranks (Spearman 1904, *The Proof
/// and Measurement of Association between Two Things*, American Journal of Psychology 15), ties sharing
/// their mean rank. The p-value takes `rho sqrt((n - 2) / (1 - rho^2))` for a value of t with n - 2
/// degrees of freedom (Kendall 1970), which is approximate for few pairs, and 0 at a rho of 1 or -1.
///
/// # Errors
///
/// Other lengths, fewer than three pairs or more than 2^20, a value that is not finite, or values of one
/// side all equal.
pub fn spearman(
    first: &[f64],
    second: &[f64],
    alternative: Alternative,
) -> Result<Tested, Degenerate> {
    pairs(first, second)?;
    enough(first, 3)?;
    finite(first)?;
    finite(second)?;
    let n = first.len();
    if n > MOST {
        return Err(Degenerate::TooMany { given: n, most: MOST });
    }
    let products = Products::of(&Ranks::of(first), &Ranks::of(second));
    let degrees = count(n - 2);
    Ok(Tested {
        statistic: products.rho().ok_or(Degenerate::NoSpread)?,
        p_value: tails(products.rho_over_rest() * degrees.sqrt(), degrees).p_value(alternative),
        n,
        used: Used::StudentT { degrees },
        alternative,
    })
}

/// Sums of squares and products of ranks from their mean: integers, so that nothing is lost where rho is
/// all but 1.
struct Products {
    first: i128,
    second: i128,
    both: i128,
}

impl Products {
    fn of(first: &Ranks, second: &Ranks) -> Self {
        let n = first.doubled.len();
        let centred = |rank: usize| rank as i128 - (n + 1) as i128;
        let sum = |a: &Ranks, b: &Ranks| {
            a.doubled.iter().zip(&b.doubled).map(|(&a, &b)| centred(a) * centred(b)).sum()
        };
        Self { first: sum(first, first), second: sum(second, second), both: sum(first, second) }
    }

    #[allow(clippy::cast_precision_loss, reason = "the last step")]
    fn rho(&self) -> Option<f64> {
        let spread = (self.first as f64).sqrt() * (self.second as f64).sqrt();
        (spread > 0.0).then(|| (self.both as f64 / spread).clamp(-1.0, 1.0))
    }

    /// `rho / sqrt(1 - rho^2)`; infinite where rho is 1 or -1.
    #[allow(clippy::cast_precision_loss, reason = "the last step")]
    fn rho_over_rest(&self) -> f64 {
        let rest = self.first * self.second - self.both * self.both;
        self.both as f64 / (rest as f64).sqrt()
    }
}
