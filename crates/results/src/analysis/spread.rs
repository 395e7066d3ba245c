//! Median with quartiles.

use ipcperf_stats::quartiles;
use schemars::JsonSchema;
use serde::Serialize;

/// Minimum number of repetitions for quartiles: one has no spread, and two are their own quartiles.
const MIN_FOR_QUARTILES: usize = 3;

/// Median and quartiles over the valid repetitions of a case.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// Median.
    pub median: f64,
    /// Lower quartile; null below three repetitions.
    pub q1: Option<f64>,
    /// Upper quartile; null below three repetitions.
    pub q3: Option<f64>,
    /// Number of valid repetitions.
    pub n: usize,
}

impl Spread {
    /// Computes the spread of the values of valid repetitions; `None` if there are none.
    pub fn from_values(values: &[f64]) -> Option<Self> {
        let quartiles = quartiles(values).ok()?;
        let has_spread = values.len() >= MIN_FOR_QUARTILES;
        Some(Self {
            median: quartiles.median,
            q1: has_spread.then_some(quartiles.q1),
            q3: has_spread.then_some(quartiles.q3),
            n: values.len(),
        })
    }

    /// Returns the quartiles, if there are enough repetitions.
    pub fn quartiles(&self) -> Option<[f64; 2]> {
        Some([self.q1?, self.q3?])
    }

    /// Returns the interquartile range divided by the median, if there are enough repetitions.
    pub fn relative_iqr(&self) -> Option<f64> {
        let [q1, q3] = self.quartiles()?;
        Some(if self.median > 0.0 { (q3 - q1) / self.median } else { 0.0 })
    }
}
