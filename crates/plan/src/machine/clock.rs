//! Reads the clock of the kernel: source, resolution and cost.

use ipcperf_engine::clock;
use ipcperf_model::environment::Clock;

use super::read::read_line;

const SOURCES: &str = "/sys/devices/system/clocksource/clocksource0";

/// Reads the clock.
pub(super) fn read() -> Clock {
    let facts = clock::measure();
    let words = |text: String| text.split_whitespace().map(str::to_owned).collect();
    Clock {
        clock_source: read_line(format!("{SOURCES}/current_clocksource")),
        clock_sources_available: read_line(format!("{SOURCES}/available_clocksource")).map(words),
        clock_step_ns: facts.step_ns,
        clock_cost_ns: facts.cost_ns,
    }
}
