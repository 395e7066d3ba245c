//! Tests on means by Student's t.

use super::tails;
use crate::{
    degenerate::{Degenerate, enough, finite, in_range},
    moments::{Moments, Scale, Two, scaled_differences},
    tested::{Alternative, Tested, Used},
};

/// A difference, its standard error, and the degrees of freedom of that error.
#[derive(Clone, Copy)]
pub(crate) struct Studentized {
    pub(crate) apart: f64,
    pub(crate) error: f64,
    pub(crate) degrees: f64,
    pub(crate) n: usize,
}

impl Studentized {
    /// Tests the difference against 0.
    pub(crate) fn tested(self, alternative: Alternative) -> Result<Tested, Degenerate> {
        let statistic = in_range(self.apart / self.error)?;
        Ok(Tested {
            statistic,
            p_value: tails(statistic, self.degrees).p_value(alternative),
            n: self.n,
            used: Used::StudentT { degrees: self.degrees },
            alternative,
        })
    }
}

/// Tests whether the mean of `values` is `mean`: Student (1908, *The Probable Error of a Mean*, Biometrika 6). The
/// statistic is `(mean of values - mean) / (SD / sqrt n)`, with n - 1 degrees of freedom. Values must be independent,
/// and normal or many.
///
/// # Errors
///
/// Returns an error for fewer than two values, one that is not finite, or values that are all equal.
pub fn one_sample_t(
    values: &[f64],
    mean: f64,
    alternative: Alternative,
) -> Result<Tested, Degenerate> {
    finite(values)?;
    finite(&[mean])?;
    let scale = Scale::of(&[values]);
    of_mean(&scale.all(values), scale.down(mean))?.tested(alternative)
}

/// Tests whether the mean of the differences `first` minus `second`, pair by pair, is 0: [`one_sample_t`] on the
/// differences.
///
/// # Errors
///
/// Returns an error for different lengths, fewer than two pairs, a value that is not finite, or differences that are
/// all equal.
pub fn paired_t(
    first: &[f64],
    second: &[f64],
    alternative: Alternative,
) -> Result<Tested, Degenerate> {
    of_differences(&scaled_differences(first, second)?)?.tested(alternative)
}

/// Tests whether two means of independent sets with equal variances are equal. The statistic is
/// `(mean 1 - mean 2) / (s sqrt(1/n + 1/m))` with the pooled standard deviation s and n + m - 2 degrees of freedom
/// (Fisher 1925, *Statistical Methods for Research Workers*).
///
/// # Errors
///
/// Returns an error for an empty set, fewer than three values in all, one that is not finite, or no spread within
/// either set.
pub fn student_t(
    first: &[f64],
    second: &[f64],
    alternative: Alternative,
) -> Result<Tested, Degenerate> {
    of_pooled(&Two::of(first, second)?)?.tested(alternative)
}

/// Tests whether two means of independent sets, whose variances may differ, are equal. The statistic is
/// `(mean 1 - mean 2) / sqrt(v/n + w/m)`, with degrees of freedom by Welch (1947, *The Generalization of "Student's"
/// Problem*, Biometrika 34).
///
/// # Errors
///
/// Returns an error for fewer than two values in a set, one that is not finite, or no spread within either set.
pub fn welch_t(
    first: &[f64],
    second: &[f64],
    alternative: Alternative,
) -> Result<Tested, Degenerate> {
    enough(first, 2)?;
    enough(second, 2)?;
    of_unequal(&Two::of(first, second)?)?.tested(alternative)
}

fn of_mean(values: &[f64], mean: f64) -> Result<Studentized, Degenerate> {
    enough(values, 2)?;
    let moments = Moments::of(values);
    let (apart, error) = (moments.above(mean), moments.error());
    spread(Studentized { apart, error, degrees: moments.n - 1.0, n: values.len() })
}

/// Computed from differences that are already scaled.
pub(crate) fn of_differences(differences: &[f64]) -> Result<Studentized, Degenerate> {
    of_mean(differences, 0.0)
}

pub(crate) fn of_pooled(two: &Two) -> Result<Studentized, Degenerate> {
    let Two { first, second, .. } = two;
    if two.degrees() < 1.0 {
        return Err(Degenerate::TooFew { given: 2, needed: 3 });
    }
    let error = (two.pooled() * (1.0 / first.n + 1.0 / second.n)).sqrt();
    spread(Studentized { apart: two.apart(), error, degrees: two.degrees(), n: two.values() })
}

/// Computed for two sets of at least two values each.
pub(crate) fn of_unequal(two: &Two) -> Result<Studentized, Degenerate> {
    let Two { first, second, .. } = two;
    let (v, w) = (first.variance() / first.n, second.variance() / second.n);
    // As shares of the sum: the squares of small variances would underflow.
    let (of_first, of_second) = (v / (v + w), w / (v + w));
    let parts = of_first * of_first / (first.n - 1.0) + of_second * of_second / (second.n - 1.0);
    spread(Studentized {
        apart: two.apart(),
        error: (v + w).sqrt(),
        degrees: 1.0 / parts,
        n: two.values(),
    })
}

fn spread(studentized: Studentized) -> Result<Studentized, Degenerate> {
    if studentized.error > 0.0 { Ok(studentized) } else { Err(Degenerate::NoSpread) }
}
