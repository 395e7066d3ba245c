//! Threads of a role, and the CPUs that they may use.

use std::fs;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity};

use crate::{Member, Scope};

/// A thread to be sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SampledThread {
    /// Thread ID; 0 for the calling thread.
    pub(super) tid: i32,
    /// CPUs that it may use. The peers have been placed before they wait at the gate.
    pub(super) cpus: Vec<i32>,
    /// Treatment of threads that it starts.
    pub(super) started: Started,
}

/// Treatment of threads that a sampled thread starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Started {
    /// They are not sampled.
    LeftOut,
    /// They are sampled too. That requires an event for each CPU, because inherited events cannot share a ring across
    /// CPUs.
    Sampled,
}

/// All threads of a CPU.
pub(super) const ALL_THREADS: SampledThread =
    SampledThread { tid: -1, cpus: Vec::new(), started: Started::LeftOut };

/// Returns the threads of `member`.
pub(super) fn list(member: &Member) -> Vec<SampledThread> {
    if member.scope == Scope::Thread {
        return thread(member.tid, Started::LeftOut).into_iter().collect();
    }
    let listed = fs::read_dir(format!("/proc/{}/task", member.pid)).into_iter().flatten().flatten();
    listed
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|tid| thread(tid, Started::Sampled))
        .collect()
}

/// Returns the calling thread.
pub(super) fn current() -> SampledThread {
    SampledThread { tid: 0, cpus: allowed_cpus(None), started: Started::LeftOut }
}

/// Describes a thread; `None` if it has exited.
fn thread(tid: u32, started: Started) -> Option<SampledThread> {
    let tid = i32::try_from(tid).ok()?;
    let cpus = allowed_cpus(Some(Pid::from_raw(tid)?));
    (!cpus.is_empty()).then_some(SampledThread { tid, cpus, started })
}

/// Returns the online CPUs on which the thread may run.
fn allowed_cpus(thread: Option<Pid>) -> Vec<i32> {
    let Ok(set) = sched_getaffinity(thread) else { return Vec::new() };
    let may = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu));
    may.filter_map(|cpu| i32::try_from(cpu).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_more_threads_than_its_first() {
        let member = |scope| Member {
            role: "both".to_owned(),
            pid: std::process::id(),
            tid: rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs(),
            scope,
        };
        assert!(list(&member(Scope::Process)).len() >= 2);
        let [alone] = &list(&member(Scope::Thread))[..] else { panic!("one thread") };
        assert_eq!(alone.cpus, current().cpus);
        assert!(alone.started == Started::LeftOut && !alone.cpus.is_empty());
    }

    #[test]
    fn those_who_are_gone_have_none() {
        let member =
            Member { role: "both".to_owned(), pid: u32::MAX, tid: u32::MAX, scope: Scope::Thread };
        assert_eq!(list(&member), []);
        assert_eq!(list(&Member { scope: Scope::Daemon, ..member }), []);
    }
}
