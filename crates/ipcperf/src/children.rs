//! Processes below the command: those that a run leaves behind are ended with it, however they got away.
//!
//! The command is the subreaper of all that it starts: whoever leaves his session, or forks twice and lets his
//! parent die, becomes its child. What is its child after a run and was not before is of that run; but where somebody
//! executed the command who had children already, theirs may come too, and where several runs are made at once, each
//! has its own: then only what bears the mark of the run is of it.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group,
    set_child_subreaper, waitpgid, waitpid,
};
use rustix::thread::gettid;

/// How long a process that was killed may take to be gone: giving back much memory takes a while.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long one may take that could not be killed, because a filter of system calls refuses it.
const SHORT_PATIENCE: Duration = Duration::from_secs(1);
/// Pauses between two looks at a process that is on its way out: the first, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(10)];

/// What is in the environment of processes that the command starts, and of those that these start: the number of the
/// thread that did.
const MARK: &str = "IPCPERF_STARTED_BY";
/// Whether this process had children before it started any.
static HAD_CHILDREN: OnceLock<bool> = OnceLock::new();
/// The thread that was the first to start something.
static FIRST_THREAD: OnceLock<Pid> = OnceLock::new();
/// Whether others have, too: programs of others carry out several runs at once, each on a thread of its own.
static HAS_SEVERAL: AtomicBool = AtomicBool::new(false);

/// Has what `command` starts bear the mark of the calling thread, which must be the one that starts it.
pub(crate) fn mark(command: &mut Command) {
    let own = gettid();
    if *FIRST_THREAD.get_or_init(|| own) != own {
        // Before anything is started that the other could take for its own.
        HAS_SEVERAL.store(true, Ordering::SeqCst);
    }
    command.env(MARK, own.to_string());
}

/// From now on orphans below this process become its children, so that it can wait for them. To be called before it
/// starts any process that outlives the call.
pub(crate) fn adopt_orphans() {
    HAD_CHILDREN.get_or_init(|| !Children::now().0.is_empty());
    // Refused only by kernels before 3.4; then init reaps what a killed worker leaves.
    let _ = set_child_subreaper(Some(getpid()));
}

/// The children of this process at some time, those that wait to be reaped among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Children(BTreeSet<i32>);

impl Children {
    /// Those there are; none where there is no `/proc`.
    pub(crate) fn now() -> Self {
        Self(listed().unwrap_or_else(searched))
    }

    /// Takes into account what came since `before`, up to now.
    pub(crate) fn add_since(&mut self, before: &Self) {
        self.0.extend(Self::now().0.difference(&before.0));
    }

    /// Kills and reaps all children but these, and what becomes a child by that.
    ///
    /// # Errors
    /// Those that are still there at `end`.
    pub(crate) fn end_others(&self, end: Instant) -> Result<(), Vec<i32>> {
        loop {
            let others = Self::now();
            let others = others.0.difference(&self.0).copied().filter(|&pid| is_of_this_run(pid));
            let others: Vec<i32> = others.collect();
            if others.is_empty() {
                return Ok(());
            }
            let pids = || others.iter().filter_map(|&pid| Pid::from_raw(pid));
            for pid in pids() {
                // Not reaped yet, it keeps its number: gone already is as good.
                let _ = kill_process(pid, Signal::KILL);
            }
            let reaped = pids().filter(|&pid| reap(pid, end).is_some()).count();
            if reaped == 0 || Instant::now() >= end {
                return Err(others);
            }
        }
    }
}

/// Whether the child `pid`, which was not there before the run of the calling thread, is of that run. Tests start
/// children on many threads, and not all by way of [`mark`].
fn is_of_this_run(pid: i32) -> bool {
    let is_shared = HAD_CHILDREN.get() == Some(&true) || HAS_SEVERAL.load(Ordering::SeqCst);
    !(is_shared || cfg!(test)) || has_mark(pid)
}

fn has_mark(pid: i32) -> bool {
    let mark = format!("{MARK}={}", gettid());
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|&byte| byte == 0).any(|entry| entry == mark.as_bytes())
}

/// Kills the child `leader` and the process group that it leads, and reaps all of it. Returns how the leader ended,
/// `None` where it did not, and until when what else is left may be waited for.
pub(crate) fn end_group(leader: Pid) -> (Option<WaitStatus>, Instant) {
    // It is not reaped yet, so the group is still this one. Gone already is as good.
    let _ = kill_process_group(leader, Signal::KILL);
    // One that died before it had its group is still in ours: it is ended and reaped by number.
    let is_refused = kill_process(leader, Signal::KILL) == Err(Errno::PERM);
    let end = Instant::now() + if is_refused { SHORT_PATIENCE } else { PATIENCE };
    let status = reap(leader, end);
    while reaped(end, || waitpgid(leader, WaitOptions::NOHANG)).is_some() {}
    (status, end)
}

/// Waits until the child `pid` has ended, at most until `end`; `None` where it has not, or is no child.
fn reap(pid: Pid, end: Instant) -> Option<WaitStatus> {
    reaped(end, || waitpid(Some(pid), WaitOptions::NOHANG))
}

/// Asks again and again, until `end`, for a child that has ended; `None` where none has, or there is none.
fn reaped(
    end: Instant,
    ask: impl Fn() -> Result<Option<(Pid, WaitStatus)>, Errno>,
) -> Option<WaitStatus> {
    let [mut pause, longest] = PAUSES;
    loop {
        match ask() {
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

/// What the kernel lists for each thread; `None` where it lists nothing (`CONFIG_PROC_CHILDREN`).
fn listed() -> Option<BTreeSet<i32>> {
    let threads = fs::read_dir("/proc/self/task").ok()?.flatten();
    // The list of a thread that ends meanwhile is another's by then.
    let lists: Vec<String> = threads
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .collect();
    (!lists.is_empty()).then(|| lists.iter().flat_map(|list| numbers(list)).collect())
}

fn numbers(list: &str) -> impl Iterator<Item = i32> {
    list.split_ascii_whitespace().filter_map(|word| word.parse().ok())
}

/// Every process whose parent this one is, found by looking at all of them.
fn searched() -> BTreeSet<i32> {
    let own = getpid().as_raw_nonzero().get();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|&pid: &i32| parent(pid) == Some(own)).collect()
}

/// The parent of the process `pid`.
fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field, the program's name, may hold spaces and brackets.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Stdio};

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap()
    }

    /// Other tests of this process start and end children meanwhile: this one looks for its own alone.
    #[test]
    fn both_ways_of_looking_find_a_child_until_it_is_reaped() {
        let mut child = sleeper();
        let pid = i32::try_from(child.id()).unwrap();
        assert!(searched().contains(&pid));
        assert!(listed().is_none_or(|all| all.contains(&pid)));
        child.kill().unwrap();
        assert!(searched().contains(&pid), "one that waits to be reaped is one");
        let status = reap(Pid::from_child(&child), Instant::now() + PATIENCE);
        assert_eq!(status.and_then(|status| status.terminating_signal()), Some(9));
        assert!(!searched().contains(&pid));
    }

    #[test]
    fn a_marked_child_is_known_by_its_mark() {
        let mut marked = Command::new("sleep");
        mark(&mut marked);
        for (mut child, has) in [(sleeper(), false), (marked.arg("60").spawn().unwrap(), true)] {
            assert_eq!(has_mark(i32::try_from(child.id()).unwrap()), has);
            child.kill().and_then(|()| child.wait()).unwrap();
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
