//! Precision target of `--until-ci`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Precision that medians must reach, and the limits after which a case is given up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Precision {
    /// Half-width of the 95 % interval of the median, as a share of the median.
    pub half_width: f64,
    /// Number of valid repetitions before the interval is first checked.
    pub min_repetitions: u32,
    /// Number of repetitions after which a case is given up.
    pub max_repetitions: u32,
    /// Time after which a case that has the minimum number of repetitions is not repeated, s.
    pub max_time_s: f64,
}

impl Precision {
    /// Returns the maximum time of a case.
    pub fn max_time(&self) -> Duration {
        Duration::try_from_secs_f64(self.max_time_s).unwrap_or(Duration::MAX)
    }

    /// Whether an interval from `low` to `high` around `median` is narrow enough.
    pub fn is_met(&self, median: f64, low: f64, high: f64) -> bool {
        (high - low) / 2.0 <= self.half_width * median.abs()
    }
}
