//! `stress-ng --pipe 1`: one writer, one reader, messages one way.
//!
//! A bogo operation is one write of 512 bytes; version 0.15 takes `--pipe-data-size` and does not
//! heed it. The pipe is opened with `O_DIRECT`: each message takes a page of its own, where 8 share
//! one of an ordinary pipe. When the pipe is full a page comes free, and the writer wakes, with each
//! message read instead of each eighth: counted were 1.6 switches a message, and 0.12 in ours. The
//! writer also fills its buffer anew for each message. What is in the pipe when the count is reached
//! is not read.

use std::process::Stdio;

use ipcperf_model::workload::Kind;

use super::{Peer, Work, command, number_after};
use crate::finding::Bar;

/// What comes nearest is our stream through an ordinary pipe.
pub(super) const PIPE: Peer = Peer {
    program: "stress-ng",
    package: "stress-ng",
    what: "stress-ng --pipe 1",
    mechanism: "pipe",
    workload: Kind::Stream,
    buffer_bytes: 512,
    bar: Bar::None,
    server: None,
    client: |work| {
        let mut command = command("stress-ng", ["--quiet", "--metrics", "--yaml", "/dev/stdout"]);
        command.args(["--pipe", "1", "--pipe-ops"]).arg(work.messages.to_string());
        // The metrics once more, for people.
        command.stderr(Stdio::null());
        command
    },
    operation_ns,
    convention: "one way, not the same work: O_DIRECT gives each message a page of its own, so that its \
        processes switch at each, and it fills its buffer for each; its time holds a fork",
};

/// From the rate of operations on the clock on the wall.
fn operation_ns(said: &str, _: &Work) -> Option<f64> {
    Some(1e9 / number_after(said, "bogo-ops-per-second-real-time:")?)
}
