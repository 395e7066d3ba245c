//! With `--until-ci`: how well a median must be known.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How well medians are to be known, and when to give up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Precision {
    /// Half of the 95 % interval of the median, as a share of the median.
    pub half_width: f64,
    /// Kept repetitions before the interval is first looked at.
    pub least_repetitions: u32,
    /// Repetitions after which a case is given up.
    pub most_repetitions: u32,
    /// Time after which no case is repeated that has the least, s.
    pub most_s: f64,
}

impl Precision {
    /// The most time a case may take.
    pub fn most_time(&self) -> Duration {
        Duration::try_from_secs_f64(self.most_s).unwrap_or(Duration::MAX)
    }

    /// Whether an interval from `low` to `high` around `median` is narrow enough.
    pub fn is_met(&self, median: f64, low: f64, high: f64) -> bool {
        (high - low) / 2.0 <= self.half_width * median.abs()
    }
}
