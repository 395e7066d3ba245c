//! Messages of different sizes (`--messages`): each arrives whole and in order, and what is stored is their sum.

use ipcperf_engine::channel::Mechanism;
use ipcperf_model::Mode;
use ipcperf_model::message_sizes::MessageSizes;
use ipcperf_model::workload::{WORKLOADS, WorkloadKind};
use serde_json::Value;

use crate::max_message::largest_message;
use crate::mechanisms::{can_run, for_each_that_moves, modes};
use crate::results::{ResultsFile, number};
use crate::sandbox::Sandbox;

/// Number of messages: in as many, the shares below are exact.
const MESSAGES: u64 = 100;

#[test]
fn messages_of_different_sizes_arrive_whole() {
    for_each_that_moves(|mechanism| {
        let sizes = mixture(mechanism);
        let total = sizes.mean_bytes() * MESSAGES;
        let unpaced = format!("-w stream,round-trip,request-reply --total {total}");
        let paced = "-w stream,request-reply --rate 1M --duration 0.0001005";
        for traffic in [&*unpaced, paced] {
            for check in ["--verify", "--touch none"] {
                assert_moved(mechanism, &sizes, &format!("{traffic} {check}"));
            }
        }
    });
}

#[test]
fn several_peers_get_messages_of_different_sizes() {
    for_each_that_moves(|mechanism| {
        let sizes = mixture(mechanism);
        let possible = |kind: &WorkloadKind| can_run(mechanism, Mode::TwoProcesses, *kind);
        let kinds = WORKLOADS.iter().map(|facts| facts.kind).filter(|kind| kind.takes_peers());
        let names: Vec<&str> = kinds.filter(possible).map(WorkloadKind::name).collect();
        if !names.is_empty() {
            let total = sizes.mean_bytes() * MESSAGES;
            let arguments = format!("-w {} --peers 3 --total {total} --verify", names.join(","));
            assert_all_arrive(mechanism, &sizes, &arguments);
        }
    });
}

fn assert_all_arrive(mechanism: &Mechanism<'static>, sizes: &MessageSizes, arguments: &str) {
    let sandbox = Sandbox::open();
    let all = format!("-m {} {arguments} --messages {sizes} --repetitions 1", mechanism.name);
    sandbox.finish(sandbox.measuring(&all)).expect(0);
    for sample in ResultsFile::read(&sandbox.results()).samples {
        let lost = sample["lost_messages"].as_u64().unwrap_or(0);
        assert_eq!((number(&sample, "messages") + lost) % MESSAGES, 0, "{sample}");
    }
}

/// Sizes with a large step between them, the smallest of which cannot hold its number.
fn mixture(mechanism: &Mechanism<'static>) -> MessageSizes {
    let largest = largest_message(mechanism, 10_000);
    let text = format!("5:70%,{}:20%,{largest}:10%", largest / 2);
    text.parse().expect("a mixture")
}

fn assert_moved(mechanism: &Mechanism<'static>, sizes: &MessageSizes, traffic: &str) {
    let sandbox = Sandbox::open();
    let arguments = format!(
        "-m {} {traffic} --messages {sizes} --mode {} --repetitions 1",
        mechanism.name,
        modes(mechanism)
    );
    let finished = sandbox.finish(sandbox.measuring(&arguments));
    if finished.status.code() == Some(2) {
        // A lossy mechanism cannot number messages of 5 bytes.
        assert!(finished.stderr.contains("needs at least"), "{arguments}: {}", finished.stderr);
        return;
    }
    finished.expect(0);
    for sample in ResultsFile::read(&sandbox.results()).samples {
        assert_sum(&sample, sizes);
    }
}

/// Checks that the bandwidth is that of the bytes that arrived: all of `total`, if no message was lost, and fewer otherwise.
fn assert_bandwidth(sample: &Value, total: u64) {
    let Some(bandwidth) = sample["bandwidth_bytes_per_s"].as_u64() else { return };
    let elapsed_ns = u128::from(number(sample, "elapsed_ns"));
    let expected = u128::from(total) * 1_000_000_000 / elapsed_ns;
    match sample["lost_messages"].as_u64().unwrap_or(0) {
        0 => assert_eq!(u128::from(bandwidth), expected, "{sample}"),
        _ => assert!(u128::from(bandwidth) < expected, "{sample}"),
    }
}

/// Checks that all messages were sent, unless the sender of a paced run gave up, and that their sizes add up.
fn assert_sum(sample: &Value, sizes: &MessageSizes) {
    assert_eq!(sample["message_sizes"], sizes.to_string(), "{sample}");
    let sent = number(sample, "messages") + sample["lost_messages"].as_u64().unwrap_or(0);
    if sample["saturated"] != true || sent == MESSAGES {
        assert_eq!(sent, MESSAGES, "{sample}");
        let sum: u64 = sizes.shares().iter().map(|one| one.bytes * u64::from(one.share)).sum();
        assert_eq!(number(sample, "total_bytes"), sum / 100, "{sample}");
        assert_bandwidth(sample, sum / 100);
    }
}
