//! Parameters and results of tests.

use crate::normal::normal_cdf;

/// Alternative to the null hypothesis of no difference. "Less" and "greater" refer to the first set of values, or to
/// the differences first minus second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alternative {
    /// There is a difference in either direction.
    TwoSided,
    /// The first set is less.
    Less,
    /// The first set is greater.
    Greater,
}

/// Distribution that a rank test takes its p-value from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Chosen by the number of values and the presence of ties, as in `SciPy` 1.17; each test documents its rule.
    Auto,
    /// Exact distribution of ranks without ties. If there are ties or zeros, the statistic is rounded towards the
    /// greater p-value, which is conservative.
    Exact,
    /// Exact distribution over all signs, or over all ways to divide the values, given the ties and zeros.
    Permutation,
    /// The normal approximation with correction for ties.
    Normal,
    /// Normal approximation with continuity correction: the statistic is moved by 1/2 towards its mean.
    NormalCorrected,
}

/// Distribution that a p-value was taken from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NullDistribution {
    /// The distribution of [`Method::Exact`].
    Exact,
    /// The distribution of [`Method::Permutation`].
    Permutation,
    /// The distribution of [`Method::Normal`].
    Normal,
    /// The distribution of [`Method::NormalCorrected`].
    NormalCorrected,
    /// Student's t distribution.
    StudentT {
        /// Degrees of freedom; not an integer for Welch's test.
        degrees: f64,
    },
}

/// Result of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TestResult {
    /// Statistic: t, W, U, tau or rho, depending on the test.
    pub statistic: f64,
    /// Probability, under the null hypothesis, of a statistic at least as extreme; 0 to 1.
    pub p_value: f64,
    /// Number of values, differences or pairs used.
    pub n: usize,
    /// Distribution that the p-value was taken from.
    pub distribution: NullDistribution,
    /// Alternative that was tested.
    pub alternative: Alternative,
}

/// Probabilities of a statistic at most as small, and at least as great, as the observed one. Both include the
/// probability of the observed one, so their sum may exceed 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tails {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

impl Tails {
    /// Tails of a standard normal value.
    pub(crate) fn normal(z: f64) -> Self {
        Self { lower: normal_cdf(z), upper: normal_cdf(-z) }
    }

    /// Tails of the positions `lower` and `upper` in a distribution over 0, 1, 2 and so on.
    pub(crate) fn at(chances: &[f64], lower: usize, upper: usize) -> Self {
        let end = chances.len().min(lower.saturating_add(1));
        let start = chances.len().min(upper);
        Self { lower: chances[..end].iter().sum(), upper: chances[start..].iter().sum() }
    }

    /// The p-value: the tail of the alternative, or twice the smaller tail.
    pub(crate) fn p_value(self, alternative: Alternative) -> f64 {
        let p = match alternative {
            Alternative::Less => self.lower,
            Alternative::Greater => self.upper,
            Alternative::TwoSided => 2.0 * self.lower.min(self.upper),
        };
        p.clamp(0.0, 1.0)
    }
}
