//! Power of a test, and the number of values that it needs.

use std::f64::consts::PI;

use crate::{
    degenerate::{Degenerate, check_finite, check_probability},
    moments::as_f64,
    student::{Noncentral, critical_value},
    test_result::Alternative,
};

/// Test and design of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Student's t on the differences of n pairs. The effect is their mean over their standard deviation.
    PairedT,
    /// Wilcoxon's signed-rank test on the differences of n pairs, with the same effect. Computed as the paired t of
    /// `3 n / π` pairs, since that is the asymptotic relative efficiency, 0.955, for normal differences (Pitman 1948;
    /// Lehmann 1975, *Nonparametrics*). For long-tailed differences the test needs fewer pairs. For few pairs this is
    /// approximate: the exact test of n pairs has at most `n (n + 1) / 2 + 1` one-sided p-values, without ties.
    PairedWilcoxon,
    /// Student's t on two sets of n values each. The effect is the difference of the means over the common standard
    /// deviation.
    TwoSampleT,
}

/// Maximum number of values to consider.
const MAX_VALUES: usize = 1 << 23;
/// Noncentrality beyond which an effect is detected with certainty.
const MAX_NONCENTRALITY: f64 = 1e4;

impl Design {
    /// Minimum number of pairs or values; with fewer there is no spread.
    fn min_values(self) -> usize {
        if self == Self::PairedWilcoxon { 3 } else { 2 }
    }

    /// Distribution of t for an effect of 1, as degrees of freedom and noncentrality.
    fn noncentral(self, n: usize) -> Noncentral {
        let n = as_f64(n);
        match self {
            Self::PairedT => Noncentral { degrees: n - 1.0, delta: n.sqrt() },
            Self::PairedWilcoxon => {
                let as_many = 3.0 / PI * n;
                Noncentral { degrees: as_many - 1.0, delta: as_many.sqrt() }
            }
            Self::TwoSampleT => Noncentral { degrees: 2.0 * n - 2.0, delta: (n / 2.0).sqrt() },
        }
    }
}

/// Probability that a test at the significance `alpha` rejects the null hypothesis if the effect is `effect`, from `n`
/// pairs, or from `n` values in each of two sets: the probability that the noncentral t lies beyond the critical value
/// (Cohen 1988, *Statistical Power Analysis for the Behavioral Sciences*).
///
/// # Errors
///
/// Returns an error for fewer than two pairs or values (for Wilcoxon three), an effect that is not finite, or an
/// `alpha` not between 0 and 1.
pub fn power(
    design: Design,
    effect: f64,
    n: usize,
    alpha: f64,
    alternative: Alternative,
) -> Result<f64, Degenerate> {
    check_finite(&[effect])?;
    check_probability(alpha)?;
    if n < design.min_values() {
        return Err(Degenerate::TooFew { given: n, needed: design.min_values() });
    }
    let of_one = design.noncentral(n);
    let delta = (of_one.delta * effect).clamp(-MAX_NONCENTRALITY, MAX_NONCENTRALITY);
    let found = Noncentral { delta, ..of_one };
    let tail = if alternative == Alternative::TwoSided { alpha / 2.0 } else { alpha };
    let t = critical_value(tail, of_one.degrees);
    Ok(match alternative {
        Alternative::Greater => found.above(t),
        Alternative::Less => found.below(-t),
        Alternative::TwoSided => (found.above(t) + found.below(-t)).min(1.0),
    })
}

/// Minimum number of pairs, or of values in each of two sets, at which [`power`] is `wanted` or more.
///
/// # Errors
///
/// As for [`power`]; also for a power not between 0 and 1, or one that 2^23 values do not reach, for example because
/// the effect has the opposite direction of the alternative.
pub fn needed_n(
    design: Design,
    effect: f64,
    alpha: f64,
    wanted: f64,
    alternative: Alternative,
) -> Result<usize, Degenerate> {
    check_probability(wanted)?;
    let reached = |n| Ok(power(design, effect, n, alpha, alternative)? >= wanted);
    let (mut short, mut enough) = (design.min_values() - 1, design.min_values());
    while !reached(enough)? {
        if enough >= MAX_VALUES {
            return Err(Degenerate::Unreachable);
        }
        (short, enough) = (enough, 2 * enough);
    }
    while enough - short > 1 {
        let middle = short.midpoint(enough);
        if reached(middle)? { enough = middle } else { short = middle }
    }
    Ok(enough)
}
