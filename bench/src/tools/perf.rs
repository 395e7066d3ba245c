//! `perf bench sched pipe`: two processes, two pipes, round trips of an `int`.
//!
//! The parent writes 4 bytes to one pipe and reads 4 from the other, the child the other way round; an operation is one
//! such round trip. The clock, `gettimeofday`, runs from before the fork of the child until it is reaped, which adds
//! about a millisecond. The tool does not pin its processes.

use ipcperf_model::workload::WorkloadKind;

use super::{Tool, ToolWork, command};
use crate::finding::Bar;

/// Round trips of an `int`: the same work as ours, so there is a bar.
pub(super) const SCHED_PIPE: Tool = Tool {
    program: "perf",
    package: "linux-perf",
    what: "perf bench sched pipe",
    mechanism: "pipe",
    workload: WorkloadKind::RoundTrip,
    buffer_bytes: 4,
    bar: Bar::Between(0.95, 1.05),
    server: None,
    client: |work| {
        command("perf", ["bench", "sched", "pipe", "--loop", &work.messages.to_string()])
    },
    operation_ns,
    convention: "an op is a round trip; its time includes one fork and one wait",
};

/// Parses a line such as `4.008600 usecs/op`.
fn operation_ns(said: &str, _: &ToolWork) -> Option<f64> {
    let figure = said.lines().find_map(|line| line.trim().strip_suffix("usecs/op"))?;
    Some(figure.trim().parse::<f64>().ok()? * 1e3)
}
