//! Where the kernel takes its time from, how fine that is, and what it costs.

use ipcperf_engine::clock;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::read::line;

/// The clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Clock {
    /// Where the kernel takes its time from.
    pub(crate) clock_source: Option<String>,
    /// What else it could take it from.
    pub(crate) clock_sources_available: Option<Vec<String>>,
    /// Smallest step of the monotonic clock.
    pub(crate) clock_step_ns: u64,
    /// Cost of reading it.
    pub(crate) clock_cost_ns: u64,
}

const SOURCES: &str = "/sys/devices/system/clocksource/clocksource0";

impl Clock {
    pub(super) fn read() -> Self {
        let facts = clock::measure();
        let words = |text: String| text.split_whitespace().map(str::to_owned).collect();
        Self {
            clock_source: line(format!("{SOURCES}/current_clocksource")),
            clock_sources_available: line(format!("{SOURCES}/available_clocksource")).map(words),
            clock_step_ns: facts.step_ns,
            clock_cost_ns: facts.cost_ns,
        }
    }
}
