//! Clock of the kernel: its source, its resolution and its cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Clock of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clock {
    /// Clock source in use.
    pub clock_source: Option<String>,
    /// Clock sources available.
    pub clock_sources_available: Option<Vec<String>>,
    /// Smallest step of the monotonic clock, ns.
    pub clock_step_ns: u64,
    /// Time of one read of the monotonic clock, ns.
    pub clock_cost_ns: u64,
}
