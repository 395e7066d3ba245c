//! Conformance tests of the comparison tools: the tests of each tool call these functions with its name.

use ipcperf_model::observation::Observation;

use super::forked_pair::Done;
use super::process_and_daemon::{Household, MESSAGES};
use super::skip::lacks;
use super::thread_pair::{BYTES, Duet};
use crate::tool_syscalls::{only_row, rows};
use crate::{Parties, Source, Watch, find};

fn armed(tool: &str, parties: &Parties) -> Box<dyn Watch> {
    let Source::Outside { arm, .. } = find(tool).unwrap().source else { unreachable!() };
    arm(parties).unwrap()
}

/// Asserts that `told` matches what sender and receiver have `done` in their last phase, and that durations are
/// reported.
pub(crate) fn is_what_was_done(told: &[Observation], done: [Done; 2]) {
    for (role, call, done) in [("sender", "write", done[0]), ("receiver", "read", done[1])] {
        let row = only_row(told, role);
        let counted = (row.syscall.as_str(), row.count, row.returned_bytes, row.errors);
        assert_eq!(counted, (call, done.calls, Some(done.bytes), Some(0)));
        assert!(row.median_ns > Some(0) && row.mean_ns > Some(0), "{row:?}");
        assert_eq!(row.quantised_ns.unwrap().iter().map(|row| row.1).sum::<u64>(), done.calls);
    }
}

/// Asserts that each of two threads of a process is reported with its own calls.
pub(crate) fn tells_threads_apart(tool: &str) {
    if lacks(tool) {
        return;
    }
    let duet = Duet::of(200);
    let watch = armed(tool, &duet.parties);
    let calls = duet.play();
    let told = watch.finish().unwrap();
    for (role, calls) in ["sender", "receiver"].into_iter().zip(calls) {
        let row = only_row(&told, role);
        let counted = (row.count, row.returned_bytes);
        assert_eq!(counted, (calls, Some(200 * BYTES as u64)), "{role}");
    }
}

/// Asserts that a library's threads, and a daemon, are observed for the peers that they work for.
pub(crate) fn watches_a_household(tool: &str) {
    if lacks(tool) {
        return;
    }
    let mut household = Household::start();
    let watch = armed(tool, &household.parties);
    household.play();
    let told = watch.finish().unwrap();
    let count = |role, call| {
        let row = rows(&told, role).into_iter().find(|row| row.syscall == call);
        row.map_or(0, |row| row.count)
    };
    assert_eq!(count("sender", "write"), 3 * MESSAGES, "{told:?}");
    // The helper may start to wait for the first message just before the phase begins, or just after.
    assert!([3 * MESSAGES - 1, 3 * MESSAGES].contains(&count("sender", "read")), "{told:?}");
    assert_eq!(rows(&told, "sender").len(), 2, "{told:?}");
    assert_eq!(count("broker", "write"), MESSAGES, "{told:?}");
}
