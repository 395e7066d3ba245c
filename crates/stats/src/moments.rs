//! Mean and variance that neither overflow nor lose what is common to all values.

use crate::degenerate::{Degenerate, enough, finite};

/// A number of values as a double.
#[allow(clippy::cast_precision_loss, reason = "numbers of values, good to 53 bits")]
pub(crate) fn count(n: usize) -> f64 {
    n as f64
}

/// A power of two by which sets of values are divided, so that none exceeds 1/2 and no sum or square of
/// theirs overflows. Of finite values it is exact but for what is too small to matter beside the largest.
#[derive(Clone, Copy)]
pub(crate) struct Scale(i32);

impl Scale {
    /// That of all `values`, which are finite.
    pub(crate) fn of(sets: &[&[f64]]) -> Self {
        let largest =
            sets.iter().copied().flatten().fold(0.0, |top: f64, value| top.max(value.abs()));
        Self(if largest == 0.0 { 0 } else { libm::ilogb(largest) + 2 })
    }

    pub(crate) fn down(self, value: f64) -> f64 {
        libm::scalbn(value, -self.0)
    }

    /// Infinite where it does not fit.
    pub(crate) fn up(self, value: f64) -> f64 {
        libm::scalbn(value, self.0)
    }

    pub(crate) fn all(self, values: &[f64]) -> Vec<f64> {
        values.iter().map(|&value| self.down(value)).collect()
    }
}

/// Mean and spread of some values.
#[derive(Clone, Copy)]
pub(crate) struct Moments {
    /// How many values.
    pub(crate) n: f64,
    /// Their mean, from the origin.
    pub(crate) mean: f64,
    /// The sum of the squares of what they lie from their mean; 0 where all are equal, not nearly 0.
    pub(crate) squares: f64,
}

impl Moments {
    /// Those of `values`, at least one, within -1 to 1, from `origin`. Two means from one origin can be
    /// subtracted however far they lie from 0.
    pub(crate) fn about(values: &[f64], origin: f64) -> Self {
        let n = count(values.len());
        let first = values[0] - origin;
        if values.iter().all(|&value| value == values[0]) {
            return Self { n, mean: first, squares: 0.0 };
        }
        let from = |centre: f64| values.iter().map(move |value| (value - origin) - centre);
        let rough = first + from(first).sum::<f64>() / n;
        let mean = rough + from(rough).sum::<f64>() / n;
        Self { n, mean, squares: from(mean).map(|away| away * away).sum() }
    }

    /// The variance of a sample, over n - 1. Of one value it is 0 over 0: ask for two.
    pub(crate) fn variance(&self) -> f64 {
        self.squares / (self.n - 1.0)
    }
}

/// Two sets at one scale, seen from the first value of the first.
pub(crate) struct Two {
    pub(crate) first: Moments,
    pub(crate) second: Moments,
    values: usize,
}

impl Two {
    /// Of two sets of at least one value each.
    pub(crate) fn of(first: &[f64], second: &[f64]) -> Result<Self, Degenerate> {
        enough(first, 1)?;
        enough(second, 1)?;
        finite(first)?;
        finite(second)?;
        let scale = Scale::of(&[first, second]);
        Ok(Self::as_they_are(&scale.all(first), &scale.all(second)))
    }

    /// Of two sets of at least one value each, far from overflow.
    pub(crate) fn as_they_are(first: &[f64], second: &[f64]) -> Self {
        let origin = first[0];
        let values = first.len() + second.len();
        let (first, second) = (Moments::about(first, origin), Moments::about(second, origin));
        Self { first, second, values }
    }

    /// How many values both have together.
    pub(crate) fn values(&self) -> usize {
        self.values
    }

    /// Mean of the first less mean of the second.
    pub(crate) fn apart(&self) -> f64 {
        self.first.mean - self.second.mean
    }

    /// Degrees of freedom of the pooled variance.
    pub(crate) fn degrees(&self) -> f64 {
        self.first.n + self.second.n - 2.0
    }

    /// The variance common to both.
    pub(crate) fn pooled(&self) -> f64 {
        (self.first.squares + self.second.squares) / self.degrees()
    }
}

/// The differences of pairs, first less second, divided by a scale at which they do not overflow.
pub(crate) fn scaled_differences(first: &[f64], second: &[f64]) -> Result<Vec<f64>, Degenerate> {
    crate::degenerate::pairs(first, second)?;
    finite(first)?;
    finite(second)?;
    let scale = Scale::of(&[first, second]);
    Ok(first.iter().zip(second).map(|(&a, &b)| scale.down(a) - scale.down(b)).collect())
}
