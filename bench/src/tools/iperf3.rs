//! `iperf3 -n`: a stream over TCP on the loopback interface.
//!
//! The figure is that of the server: bytes received divided by the time until it was told of the end. Both are
//! connected before the clock starts. The client calls `select` before every tenth write, the server before each read;
//! our peers do not.

use ipcperf_model::workload::WorkloadKind;
use serde::Deserialize;

use super::{Tool, ToolWork, command, float};
use crate::finding::Bar;
use crate::tools::server::with_parent_death_signal;

/// With the default write size.
pub(super) const TCP: Tool = Tool {
    program: "iperf3",
    package: "iperf3",
    what: "iperf3",
    mechanism: "tcp",
    workload: WorkloadKind::Stream,
    buffer_bytes: 128 << 10,
    bar: Bar::None,
    server: Some(|work| {
        with_parent_death_signal("iperf3", ["-s", "-1", "-p", &work.port.to_string()])
    }),
    client: |work| {
        let mut command = command("iperf3", ["-J", "-c", "127.0.0.1"]);
        command.arg("-p").arg(work.port.to_string());
        command.arg("-l").arg(work.buffer_bytes.to_string());
        command.arg("-n").arg((work.buffer_bytes * work.messages).to_string());
        command
    },
    operation_ns,
    convention: "its rate is the receiver's, in bits/s; it calls select before each read",
};

/// Relevant part of its output.
#[derive(Deserialize)]
struct Answer {
    end: End,
}

#[derive(Deserialize)]
struct End {
    sum_received: Received,
}

#[derive(Deserialize)]
struct Received {
    bits_per_second: f64,
}

/// Calculates the time from the rate at the receiver.
fn operation_ns(said: &str, work: &ToolWork) -> Option<f64> {
    let answer: Answer = serde_json::from_str(said).ok()?;
    Some(float(work.buffer_bytes) * 8e9 / answer.end.sum_received.bits_per_second)
}
