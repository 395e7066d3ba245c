//! Equivalence tests: two one-sided tests of whether a difference is small enough to be irrelevant.

use crate::{
    bootstrap::Interval,
    degenerate::{Degenerate, check_count, check_finite},
    moments::{Scale, TwoSamples},
    student::{Studentized, studentize_differences, studentize_pooled, studentize_unequal},
    test_result::{Alternative, Method, TestResult},
    wilcoxon::{Zeros, wilcoxon},
};

/// Whether two sets are assumed to have equal variances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variances {
    /// Equal variances, pooled (Student).
    Equal,
    /// Separate variances (Welch).
    Unequal,
}

/// Results of two one-sided tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equivalence {
    /// Test that the difference is above the lower bound.
    pub above: TestResult,
    /// Test that the difference is below the upper bound.
    pub below: TestResult,
}

impl Equivalence {
    /// Greater p-value of the two. If it is at most alpha, the difference lies within the bounds.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        self.above.p_value.max(self.below.p_value)
    }
}

/// Tests whether the mean difference of pairs, `first` minus `second`, lies within `bounds`: two one-sided t tests
/// (Schuirmann 1987, *A Comparison of the Two One-Sided Tests Procedure and the Power Approach*, Journal of
/// Pharmacokinetics and Biopharmaceutics 15). Few values cannot establish equivalence, because their standard error is
/// large.
///
/// # Errors
///
/// As for [`crate::paired_t`], and for bounds that are not finite or not in order.
pub fn paired_equivalence(
    first: &[f64],
    second: &[f64],
    bounds: Interval,
) -> Result<Equivalence, Degenerate> {
    crate::degenerate::check_pairs(first, second)?;
    check_count(first, 2)?;
    let (scale, bounds) = scaled(first, second, bounds)?;
    let second = scale.down_all(second);
    let differences: Vec<f64> =
        scale.down_all(first).iter().zip(second).map(|(a, b)| a - b).collect();
    test_bounds(studentize_differences(&differences)?, bounds)
}

/// Tests whether the difference of two means, of `first` minus `second`, lies within `bounds`: two one-sided tests as
/// in [`paired_equivalence`], of independent sets.
///
/// # Errors
///
/// As for [`crate::student_t`] or [`crate::welch_t`], and for bounds that are not finite or not in order.
pub fn equivalence(
    first: &[f64],
    second: &[f64],
    bounds: Interval,
    variances: Variances,
) -> Result<Equivalence, Degenerate> {
    let needed = if variances == Variances::Equal { 1 } else { 2 };
    check_count(first, needed)?;
    check_count(second, needed)?;
    let (scale, bounds) = scaled(first, second, bounds)?;
    let two = TwoSamples::from_scaled(&scale.down_all(first), &scale.down_all(second));
    let studentized = match variances {
        Variances::Equal => studentize_pooled(&two)?,
        Variances::Unequal => studentize_unequal(&two)?,
    };
    test_bounds(studentized, bounds)
}

/// Tests whether `differences` lie symmetrically around a value within `bounds`: two one-sided signed-rank tests, of
/// the differences minus each bound.
///
/// # Errors
///
/// As for [`wilcoxon`], and for bounds that are not finite or not in order.
pub fn wilcoxon_equivalence(
    differences: &[f64],
    bounds: Interval,
    zeros: Zeros,
    method: Method,
) -> Result<Equivalence, Degenerate> {
    check_order(bounds)?;
    check_finite(differences)?;
    let less = |bound: f64| -> Vec<f64> { differences.iter().map(|value| value - bound).collect() };
    Ok(Equivalence {
        above: wilcoxon(&less(bounds.low), Alternative::Greater, zeros, method)?,
        below: wilcoxon(&less(bounds.high), Alternative::Less, zeros, method)?,
    })
}

fn check_order(bounds: Interval) -> Result<(), Degenerate> {
    check_finite(&[bounds.low, bounds.high])?;
    if bounds.low < bounds.high { Ok(()) } else { Err(Degenerate::BoundsReversed) }
}

/// Common scale of values and bounds, and the scaled bounds.
fn scaled(
    first: &[f64],
    second: &[f64],
    bounds: Interval,
) -> Result<(Scale, Interval), Degenerate> {
    check_order(bounds)?;
    check_finite(first)?;
    check_finite(second)?;
    let scale = Scale::from_sets(&[first, second, &[bounds.low, bounds.high]]);
    Ok((scale, Interval { low: scale.down(bounds.low), high: scale.down(bounds.high) }))
}

fn test_bounds(studentized: Studentized, bounds: Interval) -> Result<Equivalence, Degenerate> {
    let from =
        |bound: f64| Studentized { difference: studentized.difference - bound, ..studentized };
    Ok(Equivalence {
        above: from(bounds.low).test(Alternative::Greater)?,
        below: from(bounds.high).test(Alternative::Less)?,
    })
}
