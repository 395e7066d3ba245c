//! A median with its quartiles.

use ipcperf_stats::quartiles;
use schemars::JsonSchema;
use serde::Serialize;

/// Fewer repetitions than these have no spread: of one there is none, and two are their own ends.
const FEWEST_FOR_SPREAD: usize = 3;

/// Median and quartiles over the kept repetitions of a case.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The lower quartile; null below three repetitions.
    pub q1: Option<f64>,
    /// The upper quartile; null below three repetitions.
    pub q3: Option<f64>,
    /// Kept repetitions.
    pub n: usize,
}

impl Spread {
    /// That of the values of kept repetitions; `None` where there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let quartiles = quartiles(values).ok()?;
        let has_spread = values.len() >= FEWEST_FOR_SPREAD;
        Some(Self {
            median: quartiles.median,
            q1: has_spread.then_some(quartiles.q1),
            q3: has_spread.then_some(quartiles.q3),
            n: values.len(),
        })
    }

    /// The quartiles, where there are enough repetitions for a spread.
    pub fn middle_half(&self) -> Option<[f64; 2]> {
        Some([self.q1?, self.q3?])
    }

    /// The interquartile range as a share of the median, where there are enough repetitions for a spread.
    pub fn relative_iqr(&self) -> Option<f64> {
        let [q1, q3] = self.middle_half()?;
        Some(if self.median > 0.0 { (q3 - q1) / self.median } else { 0.0 })
    }
}
