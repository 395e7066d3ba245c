//! Tests on means by Student's t.

use super::tails;
use crate::{
    degenerate::{Degenerate, check_count, check_finite, check_range},
    moments::{Moments, Scale, TwoSamples, scaled_differences},
    test_result::{Alternative, NullDistribution, TestResult},
};

/// A difference, its standard error, and the degrees of freedom of that error.
#[derive(Clone, Copy)]
pub(crate) struct Studentized {
    pub(crate) difference: f64,
    pub(crate) standard_error: f64,
    pub(crate) degrees: f64,
    pub(crate) n: usize,
}

impl Studentized {
    /// Tests the difference against 0.
    pub(crate) fn test(self, alternative: Alternative) -> Result<TestResult, Degenerate> {
        let statistic = check_range(self.difference / self.standard_error)?;
        Ok(TestResult {
            statistic,
            p_value: tails(statistic, self.degrees).p_value(alternative),
            n: self.n,
            distribution: NullDistribution::StudentT { degrees: self.degrees },
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
) -> Result<TestResult, Degenerate> {
    check_finite(values)?;
    check_finite(&[mean])?;
    let scale = Scale::from_sets(&[values]);
    studentize_mean(&scale.down_all(values), scale.down(mean))?.test(alternative)
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
) -> Result<TestResult, Degenerate> {
    studentize_differences(&scaled_differences(first, second)?)?.test(alternative)
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
) -> Result<TestResult, Degenerate> {
    studentize_pooled(&TwoSamples::from_sets(first, second)?)?.test(alternative)
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
) -> Result<TestResult, Degenerate> {
    check_count(first, 2)?;
    check_count(second, 2)?;
    studentize_unequal(&TwoSamples::from_sets(first, second)?)?.test(alternative)
}

fn studentize_mean(values: &[f64], mean: f64) -> Result<Studentized, Degenerate> {
    check_count(values, 2)?;
    let moments = Moments::from_values(values);
    let (apart, error) = (moments.mean_minus(mean), moments.standard_error());
    check_spread(Studentized {
        difference: apart,
        standard_error: error,
        degrees: moments.n - 1.0,
        n: values.len(),
    })
}

/// Computed from differences that are already scaled.
pub(crate) fn studentize_differences(differences: &[f64]) -> Result<Studentized, Degenerate> {
    studentize_mean(differences, 0.0)
}

pub(crate) fn studentize_pooled(two: &TwoSamples) -> Result<Studentized, Degenerate> {
    let TwoSamples { first, second, .. } = two;
    if two.degrees_of_freedom() < 1.0 {
        return Err(Degenerate::TooFew { given: 2, needed: 3 });
    }
    let error = (two.pooled_variance() * (1.0 / first.n + 1.0 / second.n)).sqrt();
    check_spread(Studentized {
        difference: two.mean_difference(),
        standard_error: error,
        degrees: two.degrees_of_freedom(),
        n: two.total_count(),
    })
}

/// Computed for two sets of at least two values each.
pub(crate) fn studentize_unequal(two: &TwoSamples) -> Result<Studentized, Degenerate> {
    let TwoSamples { first, second, .. } = two;
    let (v, w) = (first.variance() / first.n, second.variance() / second.n);
    // As shares of the sum: the squares of small variances would underflow.
    let (of_first, of_second) = (v / (v + w), w / (v + w));
    let parts = of_first * of_first / (first.n - 1.0) + of_second * of_second / (second.n - 1.0);
    check_spread(Studentized {
        difference: two.mean_difference(),
        standard_error: (v + w).sqrt(),
        degrees: 1.0 / parts,
        n: two.total_count(),
    })
}

fn check_spread(studentized: Studentized) -> Result<Studentized, Degenerate> {
    if studentized.standard_error > 0.0 { Ok(studentized) } else { Err(Degenerate::NoSpread) }
}
