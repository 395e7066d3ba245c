//! Peers for tests: two forked processes that wait at a gate, mark their phases like the peers of a run, and move
//! messages through a pipe. They count their calls and their context switches.

use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::pipe::pipe;

use crate::{Member, Scope, Targets};

/// Messages to move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairWorkload {
    /// Size of each write, and maximum size of each read, bytes; at most 1 MiB.
    pub(crate) bytes: usize,
    /// Number of writes in each phase.
    pub(crate) messages: u64,
    /// Number of phases; the last one is measured.
    pub(crate) phases: u64,
    /// CPUs of sender and receiver; `None` for any.
    pub(crate) cpus: Option<[usize; 2]>,
}

/// Counts of a peer in its last phase, in memory shared with the test.
#[derive(Debug, Default)]
#[repr(C)]
struct SharedCounts {
    calls: AtomicU64,
    bytes: AtomicU64,
    voluntary: AtomicU64,
    involuntary: AtomicU64,
}

/// Calls and bytes of a peer in its last phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PeerCounts {
    pub(crate) calls: u64,
    pub(crate) bytes: u64,
}

/// Context switches of a peer between the marks of its last phase, as reported by `getrusage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Switches {
    pub(crate) voluntary: u64,
    pub(crate) involuntary: u64,
}

/// Two processes at their gate. They are killed when dropped.
#[derive(Debug)]
pub(crate) struct ForkedPair {
    pub(crate) targets: Targets,
    children: [libc::pid_t; 2],
    gate: Option<OwnedFd>,
    tallies: &'static [SharedCounts; 2],
}

impl ForkedPair {
    /// Forks a sender and a receiver, which wait at the gate.
    pub(crate) fn fork(script: PairWorkload) -> Self {
        let (gate_end, gate) = pipe().unwrap();
        let (reader, writer) = pipe().unwrap();
        let tallies = map_shared_counts();
        let fds = [gate_end.as_raw_fd(), reader.as_raw_fd(), writer.as_raw_fd(), gate.as_raw_fd()];
        let children = [0, 1].map(|index| fork(index, script, fds, tallies));
        let member = |role: &str, pid: libc::pid_t| {
            let pid = u32::try_from(pid).unwrap();
            Member { role: role.to_owned(), pid, tid: pid, scope: Scope::Process }
        };
        let members = vec![member("sender", children[0]), member("receiver", children[1])];
        Self { targets: Targets::new(members), children, gate: Some(gate), tallies }
    }

    /// Opens the gate, waits for both processes to exit, and returns the counts of sender and receiver.
    pub(crate) fn run(&mut self) -> [PeerCounts; 2] {
        let gate = self.gate.take().unwrap();
        std::fs::File::from(gate).write_all(&[0, 0]).unwrap();
        for child in &mut self.children {
            let mut status = 0;
            // SAFETY: the pointer is to a complete `int`; the child belongs to this test.
            assert_eq!(unsafe { libc::waitpid(*child, &raw mut status, 0) }, *child);
            assert_eq!(status, 0, "a peer failed");
            *child = 0;
        }
        self.tallies.each_ref().map(|tally| PeerCounts {
            calls: tally.calls.load(Ordering::Acquire),
            bytes: tally.bytes.load(Ordering::Acquire),
        })
    }

    /// Returns the context switches of sender and receiver, after `run`.
    pub(crate) fn switches(&self) -> [Switches; 2] {
        self.tallies.each_ref().map(|tally| Switches {
            voluntary: tally.voluntary.load(Ordering::Acquire),
            involuntary: tally.involuntary.load(Ordering::Acquire),
        })
    }
}

impl Drop for ForkedPair {
    fn drop(&mut self) {
        for child in self.children.into_iter().filter(|&child| child > 0) {
            // SAFETY: the child belongs to this test and has not been reaped yet.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, null_mut(), 0);
            }
        }
    }
}

fn map_shared_counts() -> &'static [SharedCounts; 2] {
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: the kernel chooses the address of the new mapping, so it aliases nothing. It is zeroed, which is a valid
    // tally, accessed through atomics only, and never unmapped.
    unsafe {
        let start = libc::mmap(null_mut(), size_of::<[SharedCounts; 2]>(), access, kind, -1, 0);
        assert_ne!(start, libc::MAP_FAILED);
        &*start.cast::<[SharedCounts; 2]>()
    }
}

fn fork(
    index: usize,
    script: PairWorkload,
    fds: [RawFd; 4],
    tallies: &[SharedCounts; 2],
) -> libc::pid_t {
    // SAFETY: the child calls only functions listed in signal-safety(7), does not allocate, and exits by `_exit`.
    match unsafe { libc::fork() } {
        0 => {
            let [gate, inlet, outlet, gate_writer] = fds;
            // SAFETY: plain system calls on numbers; a failure ends the child.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                libc::close(gate_writer);
                libc::close(if index == 0 { inlet } else { outlet });
                let mut word = 0_u8;
                let opened = libc::read(gate, (&raw mut word).cast(), 1) == 1;
                let end = if index == 0 { outlet } else { inlet };
                let pinned = script.cpus.is_none_or(|cpus| pin(cpus[index]));
                let played = opened && pinned && run_phases(index, script, end, &tallies[index]);
                libc::_exit(i32::from(!played));
            }
        }
        child => {
            assert!(child > 0, "fork");
            child
        }
    }
}

/// Pins the calling process to `cpu`. Returns whether that is allowed.
fn pin(cpu: usize) -> bool {
    // SAFETY: an all-zero set is an empty set, and the pointer is to the complete set.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set) == 0
    }
}

/// Runs all phases. Returns whether every call succeeded.
fn run_phases(index: usize, script: PairWorkload, end: RawFd, tally: &SharedCounts) -> bool {
    let mut buffer = [0_u8; 1 << 20];
    for _ in 0..script.phases {
        let (mut calls, mut bytes) = (0, 0);
        let before = mark();
        let all = script.messages * script.bytes as u64;
        while bytes < all {
            let start = buffer.as_mut_ptr();
            // SAFETY: the buffer is longer than `script.bytes`; the descriptor belongs to the child.
            let moved = unsafe {
                match index {
                    0 => libc::write(end, start.cast(), script.bytes),
                    _ => libc::read(end, start.cast(), script.bytes),
                }
            };
            let Ok(moved @ 1..) = u64::try_from(moved) else { return false };
            (calls, bytes) = (calls + 1, bytes + moved);
        }
        let after = mark();
        tally.voluntary.store(after.voluntary - before.voluntary, Ordering::Release);
        tally.involuntary.store(after.involuntary - before.involuntary, Ordering::Release);
        tally.calls.store(calls, Ordering::Release);
        tally.bytes.store(bytes, Ordering::Release);
    }
    true
}

/// Makes the mark of a phase, and returns the context switches that the call reports.
pub(crate) fn mark() -> Switches {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a complete `rusage`, for which zeroes are a valid value.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    Switches {
        voluntary: usage.ru_nvcsw.unsigned_abs(),
        involuntary: usage.ru_nivcsw.unsigned_abs(),
    }
}

/// Reports that `what` was not tested here, and why. Where skips are forbidden (`IPCPERF_FORBID_SKIPS=1`), a skip is a
/// failure, except for the names in `IPCPERF_MAY_SKIP` (separated by commas). The message goes directly to standard
/// error, because the test harness hides what a passing test prints.
pub(crate) fn report_skip(what: &str, why: &str) {
    let set = |name| std::env::var(name).unwrap_or_default();
    let is_allowed = set("IPCPERF_MAY_SKIP").split(',').any(|name| name == what);
    let is_forbidden = set("IPCPERF_FORBID_SKIPS") == "1" && !is_allowed;
    assert!(!is_forbidden, "skipped, which is forbidden here: {what}: {why}");
    // The test passes even if standard error cannot be written.
    let _ = writeln!(std::io::stderr(), "skipped: {what}: {why}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_count_what_they_move() {
        let mut rehearsal =
            ForkedPair::fork(PairWorkload { bytes: 100, messages: 1_000, phases: 2, cpus: None });
        assert_eq!(rehearsal.targets.members.len(), 2);
        let [sender, receiver] = rehearsal.run();
        assert_eq!(sender, PeerCounts { calls: 1_000, bytes: 100_000 });
        assert_eq!(receiver.bytes, 100_000);
    }

    #[test]
    fn those_that_never_play_are_gone() {
        let rehearsal =
            ForkedPair::fork(PairWorkload { bytes: 1, messages: 1, phases: 1, cpus: None });
        let child = rehearsal.children[0];
        drop(rehearsal);
        // SAFETY: signal 0 only checks whether the process exists.
        assert_eq!(unsafe { libc::kill(child, 0) }, -1);
    }
}
