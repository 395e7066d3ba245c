//! `qperf ... tcp_lat udp_lat`: a client and a server on the loopback interface.
//!
//! Its one-way latency is half of the mean round trip: the time divided by the number of messages of both sides. It
//! accepts a duration in whole seconds, not a count; both sides are set up before the clock starts. Unlike ours it does
//! not set `TCP_NODELAY`, which makes no difference if nothing is sent before the answer has arrived.

use std::process::Command;

use ipcperf_model::workload::Kind;

use super::{Peer, Work, command, number_after};
use crate::finding::Bar;
use crate::peers::server::dies_with_us;

/// Over TCP.
pub(super) const TCP: Peer = Peer {
    program: "qperf",
    package: "qperf",
    what: "qperf tcp_lat",
    mechanism: "tcp",
    workload: Kind::RoundTrip,
    buffer_bytes: 64,
    bar: Bar::None,
    server: Some(|work| at(dies_with_us("qperf", []), work)),
    client: |work| client(work, "tcp_lat"),
    operation_ns,
    convention: "its latency is half a round trip, and is doubled; no start-up is in it",
};

/// Over UDP.
pub(super) const UDP: Peer =
    Peer { what: "qperf udp_lat", mechanism: "udp", client: |work| client(work, "udp_lat"), ..TCP };

fn at(mut command: Command, work: &Work) -> Command {
    command.arg("-lp").arg(work.port.to_string());
    command
}

/// `-uu` selects nanoseconds, `-e 6` six digits.
fn client(work: &Work, test: &str) -> Command {
    let mut command = at(command("qperf", ["-uu", "-e", "6", "-t", "1"]), work);
    command.arg("-m").arg(work.buffer_bytes.to_string()).args(["127.0.0.1", test]);
    command
}

/// Parses `latency  =  3484.21 ns`, half a round trip.
fn operation_ns(said: &str, _: &Work) -> Option<f64> {
    let (_, after) = said.split_once("latency")?;
    after.trim_end().ends_with(" ns").then(|| number_after(after, "="))?.map(|half| half * 2.0)
}
