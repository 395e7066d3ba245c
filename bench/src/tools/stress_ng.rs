//! `stress-ng --pipe 1`: one writer, one reader, one-way messages.
//!
//! A bogo operation is one write of 512 bytes; version 0.15 accepts `--pipe-data-size` but ignores it. The pipe is
//! opened with `O_DIRECT`: each message takes a page, while 8 of them share a page of an ordinary pipe. When the pipe
//! is full, each message read frees a page and wakes the writer, instead of every eighth: 1.6 switches per message were
//! counted, and 0.12 in ours. The writer also fills its buffer for each message. Messages left in the pipe when the
//! count is reached are not read.

use std::process::Stdio;

use ipcperf_model::workload::WorkloadKind;

use super::{Tool, ToolWork, command, number_after};
use crate::finding::Bar;

/// Compared with our stream through an ordinary pipe, the most similar case.
pub(super) const PIPE: Tool = Tool {
    program: "stress-ng",
    package: "stress-ng",
    what: "stress-ng --pipe 1",
    mechanism: "pipe",
    workload: WorkloadKind::Stream,
    buffer_bytes: 512,
    bar: Bar::None,
    server: None,
    client: |work| {
        let mut command = command("stress-ng", ["--quiet", "--metrics", "--yaml", "/dev/stdout"]);
        command.args(["--pipe", "1", "--pipe-ops"]).arg(work.messages.to_string());
        // Standard error repeats the metrics for people.
        command.stderr(Stdio::null());
        command
    },
    operation_ns,
    convention: "one way, not the same work: with O_DIRECT each message has its own page, so that the processes switch \
        at each one; it also fills its buffer for each; its time includes a fork",
};

/// Parses the rate of operations in real time.
fn operation_ns(said: &str, _: &ToolWork) -> Option<f64> {
    Some(1e9 / number_after(said, "bogo-ops-per-second-real-time:")?)
}
