//! Descendants of a command, from `/proc`.

use std::fs;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

/// Returns the children of `pid`.
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

/// Returns the descendants of `pid`: a worker and the peers that it forked.
pub(crate) fn descendants(pid: u32) -> Vec<u32> {
    let mut found = children(pid);
    let mut at = 0;
    while at < found.len() {
        found.extend(children(found[at]));
        at += 1;
    }
    found
}

/// Returns the processes that have `entry` in their environment.
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

/// Sends `signal` to `pid`, which may be gone already.
pub(crate) fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process number");
    let _ = kill_process(pid, signal);
}

/// Waits until the child `pid` has ended, for at most `limit`; returns whether it has. It can still be waited for.
pub(crate) fn ends_within(pid: u32, limit: Duration) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process number");
    let process = pidfd_open(pid, PidfdFlags::empty()).expect("a child that was not waited for");
    let end = Instant::now() + limit;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).expect("a limit of a test");
        match poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout)) {
            Ok(ready) => return ready > 0,
            Err(Errno::INTR) => {}
            Err(errno) => panic!("poll: {errno}"),
        }
    }
}

/// Returns the CPU time of `pid` and of the children that it waited for: fields 14 to 17 of its `stat`. The second
/// field, the program's name, may contain spaces. Returns zero if the process is gone.
pub(crate) fn cpu_time(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    let ticks: u64 = fields.skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_secs(ticks) / u32::try_from(clock_ticks_per_second()).expect("some hundred")
}

/// Multiplies `limit` by `IPCPERF_TIMES_SLOWER`, if set, for tests in an emulator.
pub(crate) fn patience(limit: Duration) -> Duration {
    let factor = std::env::var("IPCPERF_TIMES_SLOWER");
    limit * factor.map_or(1, |text| text.parse().expect("IPCPERF_TIMES_SLOWER"))
}

/// Calls `look` until it finds something, for at most `limit`, scaled for emulators; panics if it does not.
pub(crate) fn wait_for<T>(what: &str, limit: Duration, look: impl FnMut() -> Option<T>) -> T {
    let found = find_within(limit, look);
    found.unwrap_or_else(|| panic!("no {what} within {limit:?}"))
}

/// Does the same, but returns `None` if nothing is found.
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
