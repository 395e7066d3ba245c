//! `qperf ... tcp_lat udp_lat`: a client and a server on the loopback interface.
//!
//! Its one-way latency is half of the mean round trip: the time divided by the number of messages of both sides. It
//! accepts a duration in whole seconds, not a count; both sides are set up before the clock starts. Unlike ours it does
//! not set `TCP_NODELAY`, which makes no difference if nothing is sent before the answer has arrived.

use std::process::Command;

use ipcperf_model::workload::WorkloadKind;

use super::{Tool, ToolWork, command, number_after};
use crate::finding::Bar;
use crate::tools::server::with_parent_death_signal;

/// Over TCP.
pub(super) const TCP: Tool = Tool {
    program: "qperf",
    package: "qperf",
    what: "qperf tcp_lat",
    mechanism: "tcp",
    workload: WorkloadKind::RoundTrip,
    buffer_bytes: 64,
    bar: Bar::None,
    server: Some(|work| at(with_parent_death_signal("qperf", []), work)),
    client: |work| client(work, "tcp_lat"),
    operation_ns,
    convention: "its latency is half a round trip, and is doubled here; it does not include start-up",
};

/// Over UDP.
pub(super) const UDP: Tool =
    Tool { what: "qperf udp_lat", mechanism: "udp", client: |work| client(work, "udp_lat"), ..TCP };

fn at(mut command: Command, work: &ToolWork) -> Command {
    command.arg("-lp").arg(work.port.to_string());
    command
}

/// `-uu` selects nanoseconds, `-e 6` six digits.
fn client(work: &ToolWork, test: &str) -> Command {
    let mut command = at(command("qperf", ["-uu", "-e", "6", "-t", "1"]), work);
    command.arg("-m").arg(work.buffer_bytes.to_string()).args(["127.0.0.1", test]);
    command
}

/// Parses `latency  =  3484.21 ns`, half a round trip.
fn operation_ns(said: &str, _: &ToolWork) -> Option<f64> {
    let (_, after) = said.split_once("latency")?;
    after.trim_end().ends_with(" ns").then(|| number_after(after, "="))?.map(|half| half * 2.0)
}
