//! Conformance tests of the comparison tools `strace` and `bpftrace`: the tests of each tool call these functions with
//! its name.

use ipcperf_model::observation::Observation;

use super::forked_pair::PeerCounts;
use super::process_and_daemon::{MESSAGES, ProcessAndDaemon};
use super::skip::skip_if_unavailable;
use super::thread_pair::{BYTES, ThreadPair};
use crate::tool_syscalls::{only_row, rows};
use crate::{Source, Targets, Watch, find};

fn arm(tool: &str, targets: &Targets) -> Box<dyn Watch> {
    let Source::External { arm, .. } = find(tool).unwrap().source else { unreachable!() };
    arm(targets).unwrap()
}

/// Asserts that `recorded` matches what sender and receiver have `done` in their last phase, and that durations are
/// reported.
pub(crate) fn assert_matches_counts(observations: &[Observation], done: [PeerCounts; 2]) {
    for (role, call, done) in [("sender", "write", done[0]), ("receiver", "read", done[1])] {
        let row = only_row(observations, role);
        let counted = (row.syscall.as_str(), row.count, row.returned_bytes, row.errors);
        assert_eq!(counted, (call, done.calls, Some(done.bytes), Some(0)));
        assert!(row.median_ns > Some(0) && row.mean_ns > Some(0), "{row:?}");
        assert_eq!(row.log2_histogram_ns.unwrap().iter().map(|row| row.1).sum::<u64>(), done.calls);
    }
}

/// Asserts that each of two threads of a process is reported with its own calls.
pub(crate) fn assert_threads_are_separate(tool: &str) {
    if skip_if_unavailable(tool) {
        return;
    }
    let pair = ThreadPair::new(200);
    let watch = arm(tool, &pair.targets);
    let calls = pair.run();
    let recorded = watch.finish().unwrap();
    for (role, calls) in ["sender", "receiver"].into_iter().zip(calls) {
        let row = only_row(&recorded, role);
        let counted = (row.count, row.returned_bytes);
        assert_eq!(counted, (calls, Some(200 * BYTES as u64)), "{role}");
    }
}

/// Asserts that a library's threads, and a daemon, are observed for the peers that they work for.
pub(crate) fn assert_process_and_daemon_are_observed(tool: &str) {
    if skip_if_unavailable(tool) {
        return;
    }
    let mut processes = ProcessAndDaemon::start();
    let watch = arm(tool, &processes.targets);
    processes.run();
    let recorded = watch.finish().unwrap();
    let count = |role, call| {
        let row = rows(&recorded, role).into_iter().find(|row| row.syscall == call);
        row.map_or(0, |row| row.count)
    };
    assert_eq!(count("sender", "write"), 3 * MESSAGES, "{recorded:?}");
    // The helper may start to wait for the first message just before the phase begins, or just after.
    assert!([3 * MESSAGES - 1, 3 * MESSAGES].contains(&count("sender", "read")), "{recorded:?}");
    assert_eq!(rows(&recorded, "sender").len(), 2, "{recorded:?}");
    assert_eq!(count("broker", "write"), MESSAGES, "{recorded:?}");
}
