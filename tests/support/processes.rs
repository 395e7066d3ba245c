//! The processes below a command, as `/proc` tells.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// The children of `pid`.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let lists = threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let words = lists.collect::<Vec<_>>().join(" ");
    words.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// The processes below `pid`: a worker, and the parties it forked.
pub(crate) fn descendants(pid: u32) -> Vec<u32> {
    let mut found = children(pid);
    let mut at = 0;
    while at < found.len() {
        found.extend(children(found[at]));
        at += 1;
    }
    found
}

/// Processes that have `entry` in their environment.
pub(crate) fn with_environment(entry: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|&pid| has_in_environment(pid, entry)).collect()
}

fn has_in_environment(pid: u32, entry: &str) -> bool {
    fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
        environment.split(|&byte| byte == 0).any(|e| e == entry.as_bytes())
    })
}

/// Sends `signal` to `pid`; one that is gone by now needs none.
pub(crate) fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process number");
    let _ = kill_process(pid, signal);
}

/// `limit`, which is a machine's, where `IPCPERF_TIMES_SLOWER` says how much longer all takes: in an
/// emulator.
pub(crate) fn patience(limit: Duration) -> Duration {
    let factor = std::env::var("IPCPERF_TIMES_SLOWER");
    limit * factor.map_or(1, |text| text.parse().expect("IPCPERF_TIMES_SLOWER"))
}

/// Looks again and again until `look` finds something, for at most `limit` of a machine's time.
pub(crate) fn wait_for<T>(what: &str, limit: Duration, look: impl FnMut() -> Option<T>) -> T {
    let found = find_within(limit, look);
    found.unwrap_or_else(|| panic!("no {what} within {limit:?}"))
}

/// The same, of what may never be found.
pub(crate) fn find_within<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + patience(limit);
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() >= end {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
