//! Short transfers and message boundaries.

use ipcperf_engine::channel::Mechanism;
use ipcperf_model::mechanism::{Boundaries, Delivery};
use serde_json::Value;

use crate::max_message::largest_message;
use crate::mechanisms::{every_option, for_each_that_moves, modes};
use crate::results::{ResultsFile, number};
use crate::sandbox::Sandbox;

/// A buffer far larger than the kernel's: no call can move it at once.
#[test]
fn byte_streams_continue_short_transfers_and_count_them() {
    for_each_that_moves(|mechanism| {
        if mechanism.boundaries == Boundaries::None {
            for workload in ["stream", "round-trip"] {
                assert_short(mechanism, workload);
            }
        }
    });
}

fn assert_short(mechanism: &Mechanism, workload: &str) {
    let sandbox = Sandbox::open();
    let arguments = format!(
        "-m {} -w {workload} -b 1MiB --total 4MiB --kernel-buffer 4096 --mode {} --verify --repetitions 1",
        mechanism.name,
        modes(mechanism),
    );
    sandbox.finish(sandbox.measuring(&arguments)).expect(0);
    for sample in ResultsFile::read(&sandbox.results()).samples {
        assert!(number(&sample, "short_reads") > 0, "{sample}");
        assert_eq!(number(&sample, "messages"), 4, "{sample}");
        let granted = number(&sample, "kernel_buffer_granted_bytes");
        assert!(granted < 1 << 20, "{sample}");
        if sample["mode"] == "1thread" {
            assert!(number(&sample, "short_writes") > 0, "{sample}");
        }
    }
}

#[test]
fn mechanisms_that_keep_boundaries_never_transfer_short() {
    for_each_that_moves(|mechanism| {
        if mechanism.boundaries == Boundaries::Preserved {
            for sample in samples_of_every_variant(mechanism) {
                assert_eq!(number(&sample, "short_reads"), 0, "{sample}");
                assert_eq!(number(&sample, "short_writes"), 0, "{sample}");
                let arrived = number(&sample, "messages");
                let lost = sample["lost_messages"].as_u64().unwrap_or(0);
                assert_eq!(arrived + lost, 100, "{sample}");
            }
        }
    });
}

fn samples_of_every_variant(mechanism: &Mechanism<'static>) -> Vec<Value> {
    let bytes = largest_message(mechanism, 10_000);
    let samples = |setting: String| {
        let sandbox = Sandbox::open();
        let arguments = format!(
            "-m {} -w stream,round-trip -b {bytes} --total {} --mode {} {setting} --repetitions 1",
            mechanism.name,
            bytes * 100,
            modes(mechanism),
        );
        sandbox.finish(sandbox.measuring(&arguments)).expect(0);
        ResultsFile::read(&sandbox.results()).samples
    };
    every_option(mechanism).into_iter().flat_map(samples).collect()
}

/// Messages that the kernel keeps apart take exactly one call each.
#[test]
fn datagrams_cost_each_peer_one_call_each() {
    let sandbox = Sandbox::open();
    let arguments = "-m unix-dgram,unix-seqpacket -b 10000 --total 1000000 --mode 2thread,2proc \
                     --repetitions 1";
    sandbox.finish(sandbox.measuring(arguments)).expect(0);
    for sample in ResultsFile::read(&sandbox.results()).samples {
        for role in ["sender_calls", "receiver_calls"] {
            assert_eq!(number(&sample, role), 100, "{role}: {sample}");
        }
    }
}

/// If messages may be lost, the number sent is the sum of those that arrived and those that were lost.
#[test]
fn losses_are_counted_and_bandwidth_is_of_what_arrived() {
    for_each_that_moves(|mechanism| {
        if mechanism.delivery == Delivery::Lossy {
            let sandbox = Sandbox::open();
            let arguments =
                format!("-m {} -b 1000 --total 10000000 --repetitions 1", mechanism.name);
            sandbox.finish(sandbox.measuring(&arguments)).expect(0);
            for sample in ResultsFile::read(&sandbox.results()).samples {
                let arrived = number(&sample, "messages");
                assert_eq!(arrived + number(&sample, "lost_messages"), 10_000, "{sample}");
                assert_eq!(number(&sample, "total_bytes"), 10_000_000, "{sample}");
                assert_bandwidth_is_of(arrived * 1000, &sample);
            }
        }
    });
}

fn assert_bandwidth_is_of(bytes: u64, sample: &Value) {
    let (elapsed_ns, nanoseconds) = (u128::from(number(sample, "elapsed_ns")), 1_000_000_000);
    let expected = u128::from(bytes) * nanoseconds / elapsed_ns;
    assert_eq!(u128::from(number(sample, "bandwidth_bytes_per_s")), expected, "{sample}");
}
