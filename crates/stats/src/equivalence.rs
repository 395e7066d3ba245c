//! Equivalence tests: two one-sided tests of whether a difference is small enough to be irrelevant.

use crate::{
    bootstrap::Interval,
    degenerate::{Degenerate, enough, finite},
    moments::{Scale, Two},
    student::{Studentized, of_differences, of_pooled, of_unequal},
    tested::{Alternative, Method, Tested},
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
    pub above: Tested,
    /// Test that the difference is below the upper bound.
    pub below: Tested,
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
    crate::degenerate::pairs(first, second)?;
    enough(first, 2)?;
    let (scale, bounds) = scaled(first, second, bounds)?;
    let second = scale.all(second);
    let differences: Vec<f64> = scale.all(first).iter().zip(second).map(|(a, b)| a - b).collect();
    within(of_differences(&differences)?, bounds)
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
    enough(first, needed)?;
    enough(second, needed)?;
    let (scale, bounds) = scaled(first, second, bounds)?;
    let two = Two::as_they_are(&scale.all(first), &scale.all(second));
    let studentized = match variances {
        Variances::Equal => of_pooled(&two)?,
        Variances::Unequal => of_unequal(&two)?,
    };
    within(studentized, bounds)
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
    in_order(bounds)?;
    finite(differences)?;
    let less = |bound: f64| -> Vec<f64> { differences.iter().map(|value| value - bound).collect() };
    Ok(Equivalence {
        above: wilcoxon(&less(bounds.low), Alternative::Greater, zeros, method)?,
        below: wilcoxon(&less(bounds.high), Alternative::Less, zeros, method)?,
    })
}

fn in_order(bounds: Interval) -> Result<(), Degenerate> {
    finite(&[bounds.low, bounds.high])?;
    if bounds.low < bounds.high { Ok(()) } else { Err(Degenerate::BoundsReversed) }
}

/// Common scale of values and bounds, and the scaled bounds.
fn scaled(
    first: &[f64],
    second: &[f64],
    bounds: Interval,
) -> Result<(Scale, Interval), Degenerate> {
    in_order(bounds)?;
    finite(first)?;
    finite(second)?;
    let scale = Scale::of(&[first, second, &[bounds.low, bounds.high]]);
    Ok((scale, Interval { low: scale.down(bounds.low), high: scale.down(bounds.high) }))
}

fn within(of: Studentized, bounds: Interval) -> Result<Equivalence, Degenerate> {
    let from = |bound: f64| Studentized { apart: of.apart - bound, ..of };
    Ok(Equivalence {
        above: from(bounds.low).tested(Alternative::Greater)?,
        below: from(bounds.high).tested(Alternative::Less)?,
    })
}
