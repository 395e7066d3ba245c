//! Where the kernel takes its time from, how fine that is, and what it costs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clock {
    /// Where the kernel takes its time from.
    pub clock_source: Option<String>,
    /// What else it could take it from.
    pub clock_sources_available: Option<Vec<String>>,
    /// Smallest step of the monotonic clock.
    pub clock_step_ns: u64,
    /// Cost of reading it.
    pub clock_cost_ns: u64,
}
