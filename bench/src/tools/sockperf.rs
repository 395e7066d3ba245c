//! `sockperf ping-pong`: a client and a server on the loopback interface.
//!
//! Its latency is half of a round trip. Each round trip is measured with the time-stamp counter; the mean is over the
//! middle of the run, after a warm-up of 400 ms, so it includes no start-up (of the shortest run, 1 s, some 550 ms
//! count). It accepts a duration, not a count, and never ends its server.

use std::process::Command;

use ipcperf_model::workload::WorkloadKind;

use super::{Tool, ToolWork, command, number_after};
use crate::finding::Bar;
use crate::tools::server::with_parent_death_signal;

/// Over TCP, with `TCP_NODELAY` on both sides like ours.
pub(super) const TCP: Tool = Tool {
    program: "sockperf",
    package: "sockperf",
    what: "sockperf ping-pong --tcp",
    mechanism: "tcp",
    workload: WorkloadKind::RoundTrip,
    buffer_bytes: 64,
    bar: Bar::None,
    server: Some(|work| at(with_parent_death_signal("sockperf", ["server", "--tcp"]), work)),
    client: |work| client(command("sockperf", ["ping-pong", "--tcp"]), work),
    operation_ns,
    convention: "its latency is half a round trip, and is doubled here; it does not include start-up",
};

/// Over UDP. It passes and requests the peer's address in each call; our sockets are connected.
pub(super) const UDP: Tool = Tool {
    what: "sockperf ping-pong",
    mechanism: "udp",
    server: Some(|work| at(with_parent_death_signal("sockperf", ["server"]), work)),
    client: |work| client(command("sockperf", ["ping-pong"]), work),
    convention: "its latency is half a round trip, and is doubled here; it does not include start-up; its sockets are \
        not connected, ours are",
    ..TCP
};

fn at(mut command: Command, work: &ToolWork) -> Command {
    command.args(["-i", "127.0.0.1", "-p"]).arg(work.port.to_string());
    command
}

fn client(command: Command, work: &ToolWork) -> Command {
    let mut command = at(command, work);
    command.args(["-t", "1", "-m"]).arg(work.buffer_bytes.to_string());
    command
}

/// Parses `avg-latency=4.193 (std-dev=33.325)`, half round trips in us.
fn operation_ns(said: &str, _: &ToolWork) -> Option<f64> {
    Some(number_after(said, "avg-latency=")? * 2e3)
}
