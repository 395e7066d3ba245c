//! `hackbench -g 1 -f 1`: one sender, one receiver, one-way messages.
//!
//! With one group and one descriptor pair this is a stream: the receiver reads each message completely. The clock runs
//! from just before the two processes are told to start until both are reaped, so it includes their exit but not their
//! start. It prints milliseconds, so a run must last some hundreds of them.

use std::process::Command;

use ipcperf_model::workload::WorkloadKind;

use super::{Tool, ToolWork, command, float, number_after};
use crate::finding::Bar;

const CONVENTION: &str =
    "one way; its time, in whole ms, includes waking and reaping the two processes";

/// Over a pipe.
pub(super) const PIPE: Tool = Tool {
    program: "hackbench",
    package: "rt-tests",
    what: "hackbench -P -p -g 1 -f 1",
    mechanism: "pipe",
    workload: WorkloadKind::Stream,
    buffer_bytes: 100,
    bar: Bar::None,
    server: None,
    client: |work| sized(command("hackbench", ["-P", "-p", "-g", "1", "-f", "1"]), work),
    operation_ns,
    convention: CONVENTION,
};

/// Over a pair of stream sockets.
pub(super) const SOCKETS: Tool = Tool {
    what: "hackbench -P -g 1 -f 1",
    mechanism: "unix-stream",
    client: |work| sized(command("hackbench", ["-P", "-g", "1", "-f", "1"]), work),
    ..PIPE
};

fn sized(mut command: Command, work: &ToolWork) -> Command {
    command.arg("-s").arg(work.buffer_bytes.to_string());
    command.arg("-l").arg(work.messages.to_string());
    command
}

/// Parses `Time: 0.220`, the seconds for all messages.
fn operation_ns(said: &str, work: &ToolWork) -> Option<f64> {
    Some(number_after(said, "Time:")? * 1e9 / float(work.messages))
}
