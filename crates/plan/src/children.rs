//! Child processes: every process that a run leaves behind is ended when the run ends, even one that left its session.
//!
//! The command is the subreaper of everything it starts: a process that calls `setsid`, or forks twice and lets its
//! parent exit, becomes a child of the command. A child that was not there before the run belongs to the run. There are
//! two exceptions, and in both only processes with the run's mark in their environment belong to it: the command was
//! executed by a process that already had children, or several runs take place at once.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ipcperf_engine::process::{self, thread_id};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group, waitpgid,
    waitpid,
};

/// Longest wait for a killed process: freeing much memory takes time.
const KILL_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest wait for a process that could not be killed because a seccomp filter refuses `kill`.
const REFUSED_KILL_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest wait for a process to get its environment, which the kernel sets up after `execve` has let its parent go on.
const EXEC_TIMEOUT: Duration = Duration::from_secs(1);
/// Shortest and longest pause between two checks of a process that is exiting.
const POLL_INTERVALS: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(10)];

/// Environment variable that marks the processes of a run. Its value is the id of the thread that started the worker.
const MARK_VARIABLE: &str = "IPCPERF_STARTED_BY";
/// Whether this process had children before it started any.
static HAD_CHILDREN: OnceLock<bool> = OnceLock::new();
/// First thread that started a worker.
static FIRST_THREAD: OnceLock<u32> = OnceLock::new();
/// Whether other threads start workers too: `lat_pipe -P 2` runs two at once, each on its own thread.
static HAS_SEVERAL_THREADS: AtomicBool = AtomicBool::new(false);

/// Marks the process that `command` starts. Call it on the thread that starts the process.
pub fn mark(command: &mut Command) {
    let own = thread_id();
    if *FIRST_THREAD.get_or_init(|| own) != own {
        // Set before the process exists, so that the other thread cannot take it for its own.
        HAS_SEVERAL_THREADS.store(true, Ordering::SeqCst);
    }
    command.env(MARK_VARIABLE, own.to_string());
}

/// Makes this process the subreaper of its descendants, so that it can wait for orphans. Call it before the first
/// process is started.
pub fn adopt_orphans() {
    HAD_CHILDREN.get_or_init(|| !Children::now().0.is_empty());
    // Refused only by kernels before 3.4 and by macOS; then init reaps the processes that a killed worker leaves behind.
    let _ = process::adopt_orphans();
}

/// Children of this process at one point in time, zombies included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Children(BTreeSet<i32>);

impl Children {
    /// Lists the children; the list is empty where `/proc` is not mounted.
    pub fn now() -> Self {
        Self(list_children().unwrap_or_else(scan_children))
    }

    /// Adds the children that were started since `before`.
    pub fn add_since(&mut self, before: &Self) {
        self.0.extend(Self::now().0.difference(&before.0));
    }

    /// Kills and reaps all other children of the run, and the orphans that this makes.
    ///
    /// # Errors
    /// Returns the processes that still exist at `end`.
    pub fn kill_others(&self, end: Instant) -> Result<(), Vec<i32>> {
        loop {
            let others = Self::now();
            let others = others.0.difference(&self.0).copied().filter(|&pid| is_of_this_run(pid));
            let others: Vec<i32> = others.collect();
            if others.is_empty() {
                return Ok(());
            }
            let pids = || others.iter().filter_map(|&pid| Pid::from_raw(pid));
            for pid in pids() {
                // The pid cannot be reused before the child is reaped.
                let _ = kill_process(pid, Signal::KILL);
            }
            let reaped = pids().filter(|&pid| reap(pid, end).is_some()).count();
            if reaped == 0 || Instant::now() >= end {
                return Err(others);
            }
        }
    }
}

/// Whether the child `pid`, which was not there before this thread's run, belongs to that run.
fn is_of_this_run(pid: i32) -> bool {
    let is_shared = HAD_CHILDREN.get() == Some(&true) || HAS_SEVERAL_THREADS.load(Ordering::SeqCst);
    !is_shared || has_mark(pid)
}

fn has_mark(pid: i32) -> bool {
    let mark = format!("{MARK_VARIABLE}={}", thread_id());
    environment(pid).split(|&byte| byte == 0).any(|entry| entry == mark.as_bytes())
}

/// Returns the environment of the process `pid`; empty if it has ended.
fn environment(pid: i32) -> Vec<u8> {
    let end = Instant::now() + EXEC_TIMEOUT;
    loop {
        let is_complete = !is_being_executed(pid);
        let found = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        if is_complete || !found.is_empty() || Instant::now() >= end {
            return found;
        }
        sleep(POLL_INTERVALS[0]);
    }
}

/// Whether the process `pid` runs but has no environment yet: the address of its end is still 0.
fn is_being_executed(pid: i32) -> bool {
    let state = stat_field(pid, 3).unwrap_or_default();
    !["", "Z", "X"].contains(&state.as_str()) && stat_field(pid, 51).as_deref() == Some("0")
}

/// Kills and reaps the child `leader` and its process group. Returns how the leader ended (`None`: it did not), and the
/// time until which the caller may wait for the rest of the run.
pub fn kill_group(leader: Pid) -> (Option<WaitStatus>, Instant) {
    // The leader is not reaped yet, so the group id cannot have been reused.
    let _ = kill_process_group(leader, Signal::KILL);
    // A worker that has not joined its group yet is killed by pid.
    let is_refused = kill_process(leader, Signal::KILL) == Err(Errno::PERM);
    let end = Instant::now() + if is_refused { REFUSED_KILL_TIMEOUT } else { KILL_TIMEOUT };
    let status = reap(leader, end);
    while poll_until_reaped(end, || waitpgid(leader, WaitOptions::NOHANG)).is_some() {}
    (status, end)
}

/// Reaps the child `pid`, waiting at most until `end`; `None` if it did not end, or is not a child.
fn reap(pid: Pid, end: Instant) -> Option<WaitStatus> {
    poll_until_reaped(end, || waitpid(Some(pid), WaitOptions::NOHANG))
}

/// Calls `wait` until it returns a child that ended, or until `end`; `None` if no child ended or there is none.
fn poll_until_reaped(
    end: Instant,
    wait: impl Fn() -> Result<Option<(Pid, WaitStatus)>, Errno>,
) -> Option<WaitStatus> {
    let [mut pause, longest] = POLL_INTERVALS;
    loop {
        match wait() {
            Ok(Some((_, status))) => return Some(status),
            Ok(None) if Instant::now() < end => {
                sleep(pause);
                pause = (pause * 2).min(longest);
            }
            Err(Errno::INTR) => {}
            Ok(None) | Err(_) => return None,
        }
    }
}

/// Returns the children, as the kernel lists them for each thread; `None` without `CONFIG_PROC_CHILDREN`.
fn list_children() -> Option<BTreeSet<i32>> {
    let threads = fs::read_dir("/proc/self/task").ok()?.flatten();
    // The children of a thread that ends move to another thread's list.
    let lists: Vec<String> = threads
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .collect();
    (!lists.is_empty()).then(|| lists.iter().flat_map(|list| parse_pids(list)).collect())
}

fn parse_pids(list: &str) -> impl Iterator<Item = i32> {
    list.split_ascii_whitespace().filter_map(|word| word.parse().ok())
}

/// Returns the children, found by checking the parent of every process.
fn scan_children() -> BTreeSet<i32> {
    let own = getpid().as_raw_nonzero().get();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|&pid: &i32| parent(pid) == Some(own)).collect()
}

/// Returns the parent of the process `pid`.
fn parent(pid: i32) -> Option<i32> {
    stat_field(pid, 4)?.parse().ok()
}

/// Returns field `number` of `/proc/PID/stat`, counted from 1 as in proc_pid_stat(5); from 3 on.
fn stat_field(pid: i32, number: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field, the program's name, may hold spaces and brackets.
    let fields = stat.rsplit_once(')')?.1;
    fields.split_ascii_whitespace().nth(number - 3).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Stdio};

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap()
    }

    /// Other tests of this process start and end children at the same time, so this test only looks for its own.
    #[test]
    #[allow(clippy::zombie_processes, reason = "`reap` waits for it")]
    fn both_ways_of_looking_find_a_child_until_it_is_reaped() {
        let mut child = sleeper();
        let pid = i32::try_from(child.id()).unwrap();
        assert!(scan_children().contains(&pid));
        assert!(list_children().is_none_or(|all| all.contains(&pid)));
        child.kill().unwrap();
        assert!(scan_children().contains(&pid), "one that waits to be reaped is one");
        let status = reap(Pid::from_child(&child), Instant::now() + KILL_TIMEOUT);
        assert_eq!(status.and_then(WaitStatus::terminating_signal), Some(9));
        assert!(!scan_children().contains(&pid));
    }

    /// Repeated many times, because a child that was just started has no environment for some microseconds.
    #[test]
    fn a_marked_child_is_known_by_its_mark() {
        let mut marked = Command::new("sleep");
        mark(marked.arg("60"));
        for _ in 0..200 {
            for (mut child, has) in [(sleeper(), false), (marked.spawn().unwrap(), true)] {
                assert_eq!(has_mark(i32::try_from(child.id()).unwrap()), has);
                child.kill().and_then(|()| child.wait()).unwrap();
            }
        }
    }

    #[test]
    fn a_child_that_lives_is_not_waited_for_long() {
        let mut child = sleeper();
        let end = Instant::now() + Duration::from_millis(50);
        assert!(reap(Pid::from_child(&child), end).is_none());
        child.kill().and_then(|()| child.wait()).unwrap();
    }
}
