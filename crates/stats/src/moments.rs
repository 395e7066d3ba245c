//! Mean and variance that neither overflow nor lose digits to what is common to all values.

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

/// `values` divided by a power of two, so that no difference, sum or square of theirs leaves the range of a
/// double. `None` where one is not finite.
pub(crate) fn scaled(values: &[f64]) -> Option<Vec<f64>> {
    finite(values).ok()?;
    Some(Scale::of(&[values]).all(values))
}

/// The mean of at least one of `values`, which neither overflow nor cancel: from the first, so that equal
/// values have themselves for a mean.
pub(crate) fn mean(values: &[f64]) -> f64 {
    let n = count(values.len());
    let from = |centre: f64| values.iter().map(|value| value - centre).sum::<f64>() / n;
    let rough = values[0] + from(values[0]);
    rough + from(rough)
}

/// The distances of `values`, which are finite, from their mean, in units of a power of two. All are 0 where
/// the values are equal.
pub(crate) fn from_mean(values: &[f64]) -> Vec<f64> {
    let values = Scale::of(&[values]).all(values);
    let moments = Moments::of(&values);
    values.iter().map(|&value| moments.distance_of(value)).collect()
}

/// The sum of values with what rounding takes from it put back at the end (Neumaier 1974,
/// *Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen*, ZAMM 54).
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, lost) = values.fold((0.0_f64, 0.0), |(sum, lost), value| {
        let next = sum + value;
        let rounded =
            if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        (next, lost + rounded)
    });
    sum + lost
}

/// Mean and spread of some values.
#[derive(Clone, Copy)]
pub(crate) struct Moments {
    /// How many values.
    pub(crate) n: f64,
    /// Their mean, as a double.
    pub(crate) mean: f64,
    /// What that double lacks of the mean: of values that hardly differ it is as large as their spread.
    rest: f64,
    /// The sum of the squares of what they lie from their mean; 0 where all are equal, not nearly 0.
    pub(crate) squares: f64,
}

impl Moments {
    /// Those of `values`, at least one, within -1 to 1, in two passes: the squares are corrected for what the
    /// mean was rounded by (Chan, Golub and LeVeque 1983, *Algorithms for Computing the Sample Variance*, The
    /// American Statistician 37).
    pub(crate) fn of(values: &[f64]) -> Self {
        let n = count(values.len());
        if values.iter().all(|&value| value == values[0]) {
            return Self { n, mean: values[0], rest: 0.0, squares: 0.0 };
        }
        let rough = sum(values.iter().copied()) / n;
        let away = || values.iter().map(|value| value - rough);
        let off = sum(away()) / n;
        let squares: f64 = away().map(|away| away * away).sum();
        // More than the last bit of the mean are roundings of the distances, which are far larger.
        let rest = if off.abs() <= f64::EPSILON * rough.abs() { off } else { 0.0 };
        Self { n, mean: rough, rest, squares: (squares - n * off * off).max(0.0) }
    }

    /// The variance of a sample, over n - 1. Of one value it is 0 over 0: ask for two.
    pub(crate) fn variance(&self) -> f64 {
        self.squares / (self.n - 1.0)
    }

    /// The standard error of the mean.
    pub(crate) fn error(&self) -> f64 {
        (self.variance() / self.n).sqrt()
    }

    /// The mean less `other`, good to the spread of the values however far both lie from 0.
    pub(crate) fn above(&self, other: f64) -> f64 {
        (self.mean - other) + self.rest
    }

    /// `value` less the mean.
    pub(crate) fn distance_of(&self, value: f64) -> f64 {
        (value - self.mean) - self.rest
    }
}

/// Two sets at one scale.
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
        let values = first.len() + second.len();
        Self { first: Moments::of(first), second: Moments::of(second), values }
    }

    /// How many values both have together.
    pub(crate) fn values(&self) -> usize {
        self.values
    }

    /// Mean of the first less mean of the second.
    pub(crate) fn apart(&self) -> f64 {
        self.first.above(self.second.mean) - self.second.rest
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
