//! The system calls of a peer between its two calls of `getrusage`, as strace sees them: exactly those of the
//! mechanism, in the predicted number.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::max_message::largest_message;
use crate::results::{ResultsFile, number};
use crate::sandbox::{Sandbox, with_time};
use crate::skip::skip;

/// Number of each call in one timed region.
type Calls = BTreeMap<String, u64>;

/// A measurement under strace: the timed regions of its peers, and their reports.
struct Traced {
    regions: Vec<Calls>,
    samples: Vec<Value>,
}

/// Runs the case under strace; `None` if that is not possible here.
fn trace(arguments: &str) -> Option<Traced> {
    let sandbox = Sandbox::open();
    if let Err(reason) = try_strace() {
        skip("system calls of a worker", &reason);
        return None;
    }
    let mut strace = Command::new("strace");
    strace.arg("-ff").arg("-o").arg(sandbox.path("trace"));
    strace.arg(env!("CARGO_BIN_EXE_ipcperf")).args(["run", "--force"]);
    strace.args(["--repetitions", "1", "--attempts", "1"]);
    strace.arg("--out").arg(sandbox.results());
    sandbox.finish(sandbox.place(strace, &with_time(arguments))).expect(0);
    let file = ResultsFile::read(&sandbox.results());
    Some(Traced { regions: regions(&sandbox), samples: file.samples })
}

/// Checks that strace works here.
pub(crate) fn try_strace() -> Result<(), String> {
    let tried = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    let tried = tried.map_err(|error| format!("strace: {error}"))?;
    if tried.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&tried.stderr).trim().to_owned())
}

/// Returns the timed region of each peer; each thread has its own trace.
fn regions(sandbox: &Sandbox) -> Vec<Calls> {
    let folder = fs::read_dir(sandbox.path("")).expect("the folder").flatten();
    let traces = folder.filter(|entry| entry.file_name().to_string_lossy().starts_with("trace."));
    let texts = traces.map(|entry| fs::read_to_string(entry.path()).expect("a trace"));
    texts.filter(|trace| trace.contains("getrusage(")).map(|trace| region(&trace)).collect()
}

/// Returns the calls between the two calls of `getrusage`.
fn region(trace: &str) -> Calls {
    let names = trace.lines().filter(|line| !line.starts_with(['-', '+']));
    let names: Vec<&str> = names.filter_map(|line| Some(line.split_once('(')?.0)).collect();
    let marks: Vec<usize> = (0..names.len()).filter(|&index| names[index] == "getrusage").collect();
    assert_eq!(marks.len(), 2, "one timed region: {trace}");
    let mut calls = Calls::new();
    for name in &names[marks[0] + 1..marks[1]] {
        *calls.entry((*name).to_owned()).or_default() += 1;
    }
    calls
}

fn calls(counts: &[(&str, u64)]) -> Calls {
    counts.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
}

#[test]
fn a_pipe_round_trip_is_four_calls() {
    for mechanism in ["pipe", "unix-stream"] {
        let arguments = format!("-m {mechanism} -w round-trip -b 64 --total 6400");
        let Some(traced) = trace(&arguments) else { return };
        // Two runs of two peers; each peer makes one write and one read per round trip.
        assert_eq!(traced.regions, vec![calls(&[("read", 100), ("write", 100)]); 4]);
    }
}

#[test]
fn a_stream_is_one_write_a_buffer_and_the_reads_that_are_reported() {
    for (mechanism, buffer) in [("pipe", 1000), ("pipe", 200_000), ("unix-stream", 4096)] {
        let arguments = format!("-m {mechanism} -b {buffer} --total {}", buffer * 100 - 1);
        let Some(traced) = trace(&arguments) else { return };
        let senders = traced.regions.iter().filter(|calls| calls.contains_key("write"));
        assert_eq!(senders.cloned().collect::<Vec<_>>(), vec![calls(&[("write", 100)]); 2]);
        let receivers = traced.regions.iter().filter(|calls| !calls.contains_key("write"));
        let mut reads: Vec<Calls> = receivers.cloned().collect();
        let reported = traced.samples.iter().map(|sample| number(sample, "receiver_calls"));
        let mut reported: Vec<Calls> = reported.map(|count| calls(&[("read", count)])).collect();
        reads.sort();
        reported.sort();
        assert_eq!(reads, reported);
    }
}

/// Waiting for readiness costs one more call per transfer.
#[test]
fn waiting_in_poll_or_select_is_one_call_more_each() {
    for (case, sends, receives) in [
        ("pipe --set pipe.wait=poll", "write", "read"),
        ("unix-stream --set unix-stream.wait=poll", "write", "read"),
        ("dgram-fds --set dgram-fds.wait=select --set dgram-fds.fds=0", "sendmsg", "recvmsg"),
    ] {
        let arguments = format!("-m {case} -w round-trip -b 64 --total 6400");
        let Some(traced) = trace(&arguments) else { return };
        let each = calls(&[(sends, 100), (receives, 100)]);
        for mut region in traced.regions {
            // The C library implements poll and select with one of two calls each.
            let names = ["poll", "ppoll", "select", "pselect6"];
            let asked = names.iter().find_map(|name| region.remove(*name));
            assert_eq!((asked, &region), (Some(200), &each), "{case}");
        }
    }
}

/// A peer that spins makes one call for each try, and none that sleeps. A pipe of an old kernel is tried like a FIFO.
#[test]
fn a_peer_that_spins_tries_and_reports_each_try() {
    const NEVER_SLEEPS: [&str; 13] = [
        "pwritev2",
        "preadv2",
        "write",
        "read",
        "sendto",
        "recvfrom",
        "sched_yield",
        "semop",
        "semtimedop",
        "msgsnd",
        "msgrcv",
        "mq_timedsend",
        "mq_timedreceive",
    ];
    let cases: [(&str, &[&str]); 8] = [
        ("pipe --set pipe.wait=spin", &["pwritev2", "write"]),
        ("fifo --set fifo.wait=spin", &["write"]),
        ("unix-stream --set unix-stream.wait=spin", &["sendto"]),
        ("tcp --set tcp.wait=spin:20us", &["sendto"]),
        ("eventfd --set eventfd.wait=spin", &["preadv2"]),
        ("sysv-sem --set sysv-sem.wait=spin", &["semop", "semtimedop"]),
        ("sysv-mq --set sysv-mq.wait=spin", &["msgsnd"]),
        ("posix-mq --set posix-mq.wait=spin", &["mq_timedsend"]),
    ];
    for (case, tries) in cases {
        let arguments = format!("-m {case} -w round-trip -b 64 --total 6400");
        let Some(traced) = trace(&arguments) else { return };
        for region in &traced.regions {
            assert!(region.keys().all(|name| NEVER_SLEEPS.contains(&name.as_str())), "{region:?}");
            let tried = tries.iter().filter_map(|name| region.get(*name)).sum::<u64>();
            assert!(tried >= 100, "{case}: {region:?}");
            // A peer that blocked would never yield.
            assert!(region.contains_key("sched_yield"), "{case}: {region:?}");
        }
        assert_reported(&traced, case);
    }
}

/// A peer that spins in shared memory only yields the CPU that it shares.
#[test]
fn a_peer_that_spins_in_shared_memory_never_sleeps() {
    for mechanism in ["futex", "posix-sem", "mmap-file", "sysv-shm"] {
        let case = format!(
            "-m {mechanism} --set {mechanism}.wait=spin -w stream,round-trip -b 64 --total 6400"
        );
        let Some(traced) = trace(&case) else { return };
        for region in &traced.regions {
            assert!(region.keys().all(|name| name == "sched_yield"), "{case}: {region:?}");
        }
        assert_reported(&traced, &case);
    }
}

/// At depth 1, each operation is one call. At larger depths, a chain is one call, and so are a reply and the receive
/// that follows it; the first receive and the last reply of the answering peer are separate.
#[test]
fn a_chain_of_operations_is_one_call() {
    for (arguments, sends, answers) in [
        ("-w round-trip --set io-uring.depth=1", 200, 200),
        ("-w round-trip --set io-uring.depth=64", 100, 101),
        ("-w stream --set io-uring.depth=1", 100, 100),
        ("-w stream --set io-uring.depth=64", 2, 100),
    ] {
        for registered in ["none", "both"] {
            let case = format!(
                "-m io-uring {arguments} --set io-uring.registered={registered} -b 64 --total 6400"
            );
            let Some(traced) = trace(&case) else { return };
            assert_entered(&traced, sends, answers, &case);
        }
    }
}

/// Checks that, in both runs, one peer entered the kernel `sends` times and the other at most `answers` times.
fn assert_entered(traced: &Traced, sends: u64, answers: u64, case: &str) {
    assert_reported(traced, case);
    for sample in &traced.samples {
        assert_eq!(number(sample, "sender_calls"), sends, "{case}");
        assert!(number(sample, "receiver_calls") <= answers, "{case}: {sample}");
    }
    let enters = |region: &Calls| region.keys().all(|name| name == "io_uring_enter");
    assert!(traced.regions.iter().all(enters), "{case}: {:?}", traced.regions);
}

/// Codecs neither allocate nor free memory while the clock runs.
#[test]
fn a_compressed_round_trip_is_four_calls_whatever_the_codec() {
    let codecs: &[&str] =
        if cfg!(feature = "zstd") { &["deflate", "lz4", "zstd"] } else { &["deflate", "lz4"] };
    let arguments = format!(
        "-m dgram-compressed --set dgram-compressed.codec={} -w round-trip -b 100000 --total 2000000",
        codecs.join(",")
    );
    let Some(traced) = trace(&arguments) else { return };
    assert_eq!(traced.regions, vec![calls(&[("read", 20), ("write", 20)]); codecs.len() * 4]);
}

/// Each message lowers one semaphore and raises one; a long wait adds a call per time slice.
#[test]
fn a_queue_with_system_v_semaphores_is_two_calls_a_message() {
    let arguments = "-m mmap-queue --set mmap-queue.lock=sysv-sem -w round-trip -b 64 --total 6400";
    let Some(traced) = trace(arguments) else { return };
    for region in &traced.regions {
        let semaphores = region.get("semtimedop").copied();
        assert!(semaphores >= Some(400), "{region:?}");
        assert!(region.keys().all(|name| ["semtimedop", "kill"].contains(&name.as_str())));
    }
    assert_reported(&traced, arguments);
}

/// The calls listed by Shuldman (2015), except that descriptors passed in addition to the file's are closed too.
#[test]
fn a_file_for_each_message_is_five_calls_to_send_and_four_to_receive() {
    let arguments = "-m file-ref --set file-ref.fds=0 -b 10000 --total 1000000";
    let Some(traced) = trace(arguments) else { return };
    let mut regions = traced.regions;
    regions.sort();
    let count = 100;
    let receiver: &[(&str, u64)] =
        &[("close", count), ("lseek", count), ("read", count), ("recvmsg", count)];
    let sender: &[(&str, u64)] = &[
        ("close", count),
        ("openat", count),
        ("sendmsg", count),
        ("unlink", count),
        ("write", count),
    ];
    assert_eq!(regions, [calls(receiver), calls(receiver), calls(sender), calls(sender)]);
}

#[test]
fn null_makes_no_call() {
    for mode in ["1thread", "2thread", "2proc"] {
        let arguments = format!("-m null -w stream,round-trip -b 64 --total 640000 --mode {mode}");
        let Some(traced) = trace(&arguments) else { return };
        let peers = if mode == "1thread" { 1 } else { 2 };
        assert_eq!(traced.regions, vec![Calls::new(); 4 * peers], "{mode}");
    }
}

#[test]
fn a_ring_calls_only_to_sleep_and_to_wake() {
    for placement in ["same", "free"] {
        let arguments = format!(
            "-m shm-ring -w stream,round-trip -b 64 --total 64000 --placement {placement} \
             --set shm-ring.wait=block,adaptive"
        );
        let Some(traced) = trace(&arguments) else { return };
        for calls in &traced.regions {
            // A ring whose wait has lasted long asks whether its peer is still there.
            let is_known = |name: &String| ["futex", "poll", "ppoll"].contains(&name.as_str());
            assert!(calls.keys().all(is_known), "{calls:?}");
            let count = |name: &str| calls.get(name).copied().unwrap_or(0);
            assert!(count("poll") + count("ppoll") <= count("futex"), "{calls:?}");
        }
        assert_reported(&traced, &arguments);
    }
}

/// For every mechanism, mode and workload, a peer reports exactly the calls that it made.
#[test]
fn every_peer_reports_the_calls_it_makes() {
    for mechanism in ipcperf_engine::mechanism::MECHANISMS {
        if (mechanism.availability)().is_err() {
            skip(mechanism.name, "not available here");
            continue;
        }
        if mechanism.name == "posix-sem" || mechanism.library.is_some() {
            // Only the library knows when it enters the kernel; the page of the mechanism says so.
            continue;
        }
        for mode in mechanism.modes {
            let (name, mode) = (mechanism.name, mode.name());
            let bytes = largest_message(mechanism, 10_000);
            let total = bytes * 50;
            let arguments =
                format!("-m {name} --mode {mode} -w stream,round-trip -b {bytes} --total {total}");
            let Some(traced) = trace(&arguments) else { return };
            assert_reported(&traced, &arguments);
        }
    }
}

fn assert_reported(traced: &Traced, what: &str) {
    let mut reported: Vec<u64> = traced.samples.iter().flat_map(calls_of_roles).collect();
    let mut made: Vec<u64> = traced.regions.iter().map(moving_calls).collect();
    reported.sort_unstable();
    made.sort_unstable();
    assert_eq!(made, reported, "{what}: {:?}", traced.regions);
}

fn calls_of_roles(sample: &Value) -> Vec<u64> {
    let keys = sample.as_object().expect("an object").keys();
    keys.filter(|key| key.ends_with("_calls")).map(|key| number(sample, key)).collect()
}

/// Returns the number of calls that move data. In a stream that may lose messages, the peers agree on its end through a
/// futex, which does not count; a ring has no calls other than futex.
fn moving_calls(calls: &Calls) -> u64 {
    let moves = |name: &String| ["read", "write", "recvfrom", "sendto"].contains(&name.as_str());
    let only_sleeps = !calls.keys().any(moves);
    calls.iter().filter(|(name, _)| only_sleeps || *name != "futex").map(|(_, count)| count).sum()
}
