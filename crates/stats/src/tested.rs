//! What a test is asked and what it answers.

use crate::normal::normal_cdf;

/// What is held against the hypothesis of no difference. "Less" and "greater" are said of the first set
/// of values, or of the differences first less second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alternative {
    /// There is a difference, either way.
    TwoSided,
    /// The first is less.
    Less,
    /// The first is greater.
    Greater,
}

/// Which distribution a rank test takes its p-value from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By the number of values and whether there are ties, as `SciPy` 1.17 does; each test says how.
    Auto,
    /// The exact distribution of ranks without ties. Where there are ties or zeros, the statistic is
    /// rounded towards the greater p-value, which is conservative.
    Exact,
    /// The exact distribution over all signs, or all ways to part the values, given the ties and zeros
    /// there are.
    Permutation,
    /// The normal approximation with correction for ties.
    Normal,
    /// The same, with the statistic moved by 1/2 towards its mean.
    NormalCorrected,
}

/// Which distribution a p-value came from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Used {
    /// As [`Method::Exact`].
    Exact,
    /// As [`Method::Permutation`].
    Permutation,
    /// As [`Method::Normal`].
    Normal,
    /// As [`Method::NormalCorrected`].
    NormalCorrected,
    /// Student's t distribution.
    StudentT {
        /// Degrees of freedom; no integer for Welch's test.
        degrees: f64,
    },
}

/// What a test came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// The statistic: t, W, U, tau or rho, as the test says.
    pub statistic: f64,
    /// The probability of a statistic as far out or farther where there is no difference; 0 to 1.
    pub p_value: f64,
    /// How many values, differences or pairs entered.
    pub n: usize,
    /// Where the p-value came from.
    pub used: Used,
    /// What was held against no difference.
    pub alternative: Alternative,
}

/// The probabilities of a statistic as small as the one seen or smaller, and as great or greater. Both
/// hold the probability of the one seen, so that their sum may exceed 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tails {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

impl Tails {
    /// Those of a standard normal value.
    pub(crate) fn normal(z: f64) -> Self {
        Self { lower: normal_cdf(z), upper: normal_cdf(-z) }
    }

    /// Those of `place` in a distribution over 0, 1, 2 and so on.
    pub(crate) fn at(chances: &[f64], lower: usize, upper: usize) -> Self {
        let end = chances.len().min(lower.saturating_add(1));
        let start = chances.len().min(upper);
        Self { lower: chances[..end].iter().sum(), upper: chances[start..].iter().sum() }
    }

    /// The p-value: the tail that is meant, or twice the smaller.
    pub(crate) fn p_value(self, alternative: Alternative) -> f64 {
        let p = match alternative {
            Alternative::Less => self.lower,
            Alternative::Greater => self.upper,
            Alternative::TwoSided => 2.0 * self.lower.min(self.upper),
        };
        p.clamp(0.0, 1.0)
    }
}
