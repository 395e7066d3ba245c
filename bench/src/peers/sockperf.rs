//! `sockperf ping-pong`: a client and a server on the loopback interface.
//!
//! Its latency is half of a round trip. Each round trip is measured with the time-stamp counter; the mean is over the
//! middle of the run, after a warm-up of 400 ms, so it includes no start-up (of the shortest run, 1 s, some 550 ms
//! count). It accepts a duration, not a count, and never ends its server.

use std::process::Command;

use ipcperf_model::workload::Kind;

use super::{Peer, Work, command, number_after};
use crate::finding::Bar;
use crate::peers::server::dies_with_us;

/// Over TCP, with `TCP_NODELAY` on both sides like ours.
pub(super) const TCP: Peer = Peer {
    program: "sockperf",
    package: "sockperf",
    what: "sockperf ping-pong --tcp",
    mechanism: "tcp",
    workload: Kind::RoundTrip,
    buffer_bytes: 64,
    bar: Bar::None,
    server: Some(|work| at(dies_with_us("sockperf", ["server", "--tcp"]), work)),
    client: |work| client(command("sockperf", ["ping-pong", "--tcp"]), work),
    operation_ns,
    convention: "its latency is half a round trip, and is doubled; no start-up is in it",
};

/// Over UDP. It passes and requests the peer's address in each call; our sockets are connected.
pub(super) const UDP: Peer = Peer {
    what: "sockperf ping-pong",
    mechanism: "udp",
    server: Some(|work| at(dies_with_us("sockperf", ["server"]), work)),
    client: |work| client(command("sockperf", ["ping-pong"]), work),
    convention: "its latency is half a round trip, and is doubled; no start-up is in it; its sockets \
        are not connected, ours are",
    ..TCP
};

fn at(mut command: Command, work: &Work) -> Command {
    command.args(["-i", "127.0.0.1", "-p"]).arg(work.port.to_string());
    command
}

fn client(command: Command, work: &Work) -> Command {
    let mut command = at(command, work);
    command.args(["-t", "1", "-m"]).arg(work.buffer_bytes.to_string());
    command
}

/// Parses `avg-latency=4.193 (std-dev=33.325)`, half round trips in us.
fn operation_ns(said: &str, _: &Work) -> Option<f64> {
    Some(number_after(said, "avg-latency=")? * 2e3)
}
