//! Mean and variance without overflow, and without loss of digits to a large common offset.

use crate::degenerate::{Degenerate, check_count, check_finite};

/// Converts a number of values to a double.
#[allow(clippy::cast_precision_loss, reason = "numbers of values, good to 53 bits")]
pub(crate) fn as_f64(n: usize) -> f64 {
    n as f64
}

/// A power of two that divides sets of values, so that none exceeds 1/2 and no sum or square of theirs overflows. For
/// finite values the division is exact, except for values too small to matter next to the largest.
#[derive(Clone, Copy)]
pub(crate) struct Scale(i32);

impl Scale {
    /// Common scale of all values, which are finite.
    pub(crate) fn from_sets(sets: &[&[f64]]) -> Self {
        let largest =
            sets.iter().copied().flatten().fold(0.0, |top: f64, value| top.max(value.abs()));
        Self(if largest == 0.0 { 0 } else { libm::ilogb(largest) + 2 })
    }

    pub(crate) fn down(self, value: f64) -> f64 {
        libm::scalbn(value, -self.0)
    }

    /// Scales back; infinite if the result does not fit.
    pub(crate) fn up(self, value: f64) -> f64 {
        libm::scalbn(value, self.0)
    }

    pub(crate) fn down_all(self, values: &[f64]) -> Vec<f64> {
        values.iter().map(|&value| self.down(value)).collect()
    }
}

/// Divides `values` by a power of two, so that no difference, sum or square of theirs overflows. Returns `None` if a
/// value is not finite.
pub(crate) fn scaled(values: &[f64]) -> Option<Vec<f64>> {
    check_finite(values).ok()?;
    Some(Scale::from_sets(&[values]).down_all(values))
}

/// Mean of `values`, of which there is at least one; they must not overflow. Computed relative to the first value, so
/// that the mean of equal values is exactly that value.
pub(crate) fn mean(values: &[f64]) -> f64 {
    let n = as_f64(values.len());
    let from = |center: f64| values.iter().map(|value| value - center).sum::<f64>() / n;
    let rough = values[0] + from(values[0]);
    rough + from(rough)
}

/// Deviations of `values`, which are finite, from their mean, in units of a power of two. All are 0 if the values are
/// equal.
pub(crate) fn deviations_from_mean(values: &[f64]) -> Vec<f64> {
    let values = Scale::from_sets(&[values]).down_all(values);
    let moments = Moments::from_values(&values);
    values.iter().map(|&value| moments.deviation(value)).collect()
}

/// Compensated sum: rounding errors are accumulated and added at the end (Neumaier 1974, *Rundungsfehleranalyse einiger
/// Verfahren zur Summation endlicher Summen*, ZAMM 54).
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, lost) = values.fold((0.0_f64, 0.0), |(sum, lost), value| {
        let next = sum + value;
        let rounded =
            if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        (next, lost + rounded)
    });
    sum + lost
}

/// Mean and spread of a set of values.
#[derive(Clone, Copy)]
pub(crate) struct Moments {
    /// Number of values.
    pub(crate) n: f64,
    /// Mean, rounded to a double.
    pub(crate) mean: f64,
    /// Rounding error of that double. If the values hardly differ, it is as large as their spread.
    rest: f64,
    /// Sum of the squared deviations from the mean; exactly 0 if all values are equal.
    pub(crate) squares: f64,
}

impl Moments {
    /// Moments of `values`, at least one, within -1 to 1, in two passes: the squares are corrected for the rounding of
    /// the mean (Chan, Golub and LeVeque 1983, *Algorithms for Computing the Sample Variance*, The American
    /// Statistician 37).
    pub(crate) fn from_values(values: &[f64]) -> Self {
        let n = as_f64(values.len());
        if values.iter().all(|&value| value == values[0]) {
            return Self { n, mean: values[0], rest: 0.0, squares: 0.0 };
        }
        let rough = sum(values.iter().copied()) / n;
        let away = || values.iter().map(|value| value - rough);
        let off = sum(away()) / n;
        let squares: f64 = away().map(|away| away * away).sum();
        // A correction larger than the last bit of the mean comes from rounding the much larger deviations.
        let rest = if off.abs() <= f64::EPSILON * rough.abs() { off } else { 0.0 };
        Self { n, mean: rough, rest, squares: (squares - n * off * off).max(0.0) }
    }

    /// Sample variance, with n - 1. For one value it is 0 over 0; callers need two.
    pub(crate) fn variance(&self) -> f64 {
        self.squares / (self.n - 1.0)
    }

    /// Standard error of the mean.
    pub(crate) fn standard_error(&self) -> f64 {
        (self.variance() / self.n).sqrt()
    }

    /// Mean minus `other`, accurate relative to the spread of the values, however far both lie from 0.
    pub(crate) fn mean_minus(&self, other: f64) -> f64 {
        (self.mean - other) + self.rest
    }

    /// `value` minus the mean.
    pub(crate) fn deviation(&self, value: f64) -> f64 {
        (value - self.mean) - self.rest
    }
}

/// Moments of two sets at a common scale.
pub(crate) struct TwoSamples {
    pub(crate) first: Moments,
    pub(crate) second: Moments,
    values: usize,
}

impl TwoSamples {
    /// Scales two sets of at least one value each.
    pub(crate) fn from_sets(first: &[f64], second: &[f64]) -> Result<Self, Degenerate> {
        check_count(first, 1)?;
        check_count(second, 1)?;
        check_finite(first)?;
        check_finite(second)?;
        let scale = Scale::from_sets(&[first, second]);
        Ok(Self::from_scaled(&scale.down_all(first), &scale.down_all(second)))
    }

    /// Uses two sets of at least one value each, far from overflow, without scaling.
    pub(crate) fn from_scaled(first: &[f64], second: &[f64]) -> Self {
        let values = first.len() + second.len();
        Self { first: Moments::from_values(first), second: Moments::from_values(second), values }
    }

    /// Number of values in both sets together.
    pub(crate) fn total_count(&self) -> usize {
        self.values
    }

    /// Mean of the first minus mean of the second.
    pub(crate) fn mean_difference(&self) -> f64 {
        self.first.mean_minus(self.second.mean) - self.second.rest
    }

    /// Degrees of freedom of the pooled variance.
    pub(crate) fn degrees_of_freedom(&self) -> f64 {
        self.first.n + self.second.n - 2.0
    }

    /// Pooled variance.
    pub(crate) fn pooled_variance(&self) -> f64 {
        (self.first.squares + self.second.squares) / self.degrees_of_freedom()
    }
}

/// Differences of pairs, first minus second, divided by a scale at which they do not overflow.
pub(crate) fn scaled_differences(first: &[f64], second: &[f64]) -> Result<Vec<f64>, Degenerate> {
    crate::degenerate::check_pairs(first, second)?;
    check_finite(first)?;
    check_finite(second)?;
    let scale = Scale::from_sets(&[first, second]);
    Ok(first.iter().zip(second).map(|(&a, &b)| scale.down(a) - scale.down(b)).collect())
}
