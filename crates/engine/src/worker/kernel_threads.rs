//! Kernel threads that do part of a mechanism's work. Under load the loopback interface leaves delivery to `ksoftirqd`; a
//! pseudoterminal leaves it to the workers of a work queue (`kworker`).

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ipcperf_model::RunSpec;
use ipcperf_model::mechanism::Helper;

/// Beginning of the name of a worker of a work queue.
const WORKER: &str = "kworker/";
/// Time over which the other uses of work queues are measured before a run.
const IDLE_TIME: Duration = Duration::from_millis(20);

/// Kernel threads that work for a mechanism.
#[derive(Clone, Debug)]
pub(super) enum KernelThreads {
    /// One thread for each CPU of the run.
    PerCpu(Vec<PathBuf>),
    /// All workers of all work queues: any of them may do the work, on any CPU, and new ones may be started for it.
    Workers {
        /// CPU time that they use for other purposes, as a share of the time that passes.
        idle_share: f64,
    },
}

/// CPU time of each thread at one moment, ns.
#[derive(Clone, Debug)]
pub(super) struct KernelThreadTimes {
    by_pid: HashMap<u32, u64>,
    at: Instant,
    idle_share: f64,
}

impl KernelThreads {
    /// Finds the threads of a run of `spec`. Returns `None` if the mechanism has no such threads, or if they are not
    /// visible, as in a container, and for threads of each CPU also if `spec` names no CPUs.
    pub(super) fn find(spec: &RunSpec, helper: Helper) -> Option<Self> {
        match helper {
            Helper::KernelThread(name) => per_cpu(spec, name),
            Helper::WorkQueue => workers(),
            _ => None,
        }
    }

    /// CPU time that they have used so far. Exact for threads that sleep; at most one tick late for one that runs.
    pub(super) fn times(&self) -> Option<KernelThreadTimes> {
        let (processes, idle_share) = match self {
            Self::PerCpu(processes) => (processes.clone(), 0.0),
            Self::Workers { idle_share } => {
                (with_name(|name| name.starts_with(WORKER)), *idle_share)
            }
        };
        let at = Instant::now();
        let by_pid = processes.iter().filter_map(|process| Some((pid(process)?, cpu_ns(process)?)));
        let by_pid: HashMap<u32, u64> = by_pid.collect();
        (!by_pid.is_empty()).then_some(KernelThreadTimes { by_pid, at, idle_share })
    }
}

impl KernelThreadTimes {
    /// CPU time used from `self` to `end`, ns, without what the threads would have used anyway. All of a new thread's time
    /// counts; what a thread used that has ended since is lost.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "seconds in ns"
    )]
    pub(super) fn until(&self, end: &Self) -> u64 {
        let used = |(pid, now): (&u32, &u64)| {
            now.saturating_sub(self.by_pid.get(pid).copied().unwrap_or(0))
        };
        let used_ns: u64 = end.by_pid.iter().map(used).sum();
        let passed_ns = end.at.duration_since(self.at).as_nanos() as f64;
        used_ns.saturating_sub((self.idle_share * passed_ns) as u64)
    }
}

fn per_cpu(spec: &RunSpec, name: &str) -> Option<KernelThreads> {
    let cpus = spec.all_cpus();
    let wanted: Vec<String> = cpus.iter().map(|cpu| format!("{name}/{cpu}")).collect();
    let found = with_name(|name| wanted.iter().any(|wanted| wanted == name));
    (!found.is_empty() && found.len() == wanted.len()).then_some(KernelThreads::PerCpu(found))
}

/// Measures what the workers do anyway.
#[allow(clippy::cast_precision_loss, reason = "milliseconds in ns")]
fn workers() -> Option<KernelThreads> {
    let other = KernelThreads::Workers { idle_share: 0.0 };
    let before = other.times()?;
    sleep(IDLE_TIME);
    let after = other.times()?;
    let passed_ns = after.at.duration_since(before.at).as_nanos().max(1) as f64;
    Some(KernelThreads::Workers { idle_share: before.until(&after) as f64 / passed_ns })
}

/// Returns the folders of all processes whose name `is_wanted`.
fn with_name(is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    let has_name = |process: &PathBuf| {
        pid(process).is_some()
            && fs::read_to_string(process.join("comm")).is_ok_and(|comm| is_wanted(comm.trim_end()))
    };
    processes.filter(has_name).collect()
}

fn pid(process: &Path) -> Option<u32> {
    process.file_name()?.to_str()?.parse().ok()
}

/// The first field of `schedstat`.
fn cpu_ns(process: &Path) -> Option<u64> {
    let text = fs::read_to_string(process.join("schedstat")).ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::find;
    use crate::testing::spec;

    fn find_threads(mechanism: &str, cpus: [u32; 2]) -> Option<KernelThreads> {
        KernelThreads::find(&spec(mechanism, cpus), find(&mechanism.into())?.helper)
    }

    #[test]
    fn a_mechanism_without_such_threads_has_none() {
        assert!(find_threads("pipe", [0, 0]).is_none());
    }

    #[test]
    fn a_cpu_that_is_not_there_has_none() {
        assert!(find_threads("tcp", [0, 1_000_000]).is_none());
    }

    /// In a container the threads are not visible; the test then checks nothing.
    #[test]
    fn what_is_seen_has_used_some_time() {
        for mechanism in ["tcp", "pty"] {
            if let Some(threads) = find_threads(mechanism, [0, 0]) {
                assert!(
                    threads.times().is_some_and(|times| times.by_pid.values().sum::<u64>() > 0)
                );
            }
        }
    }

    #[test]
    fn a_new_thread_counts_whole_one_that_ended_not_at_all_and_other_work_is_subtracted() {
        let at = Instant::now();
        let times = |by_pid: &[(u32, u64)], ms, idle_share| KernelThreadTimes {
            by_pid: by_pid.iter().copied().collect(),
            at: at + Duration::from_millis(ms),
            idle_share,
        };
        for (idle_share, used_ns) in [(0.0, 3_700), (0.001, 2_700), (0.1, 0)] {
            let before = times(&[(1, 10_000), (2, 5_000)], 0, idle_share);
            let after = times(&[(1, 13_000), (3, 700)], 1, idle_share);
            assert_eq!(before.until(&after), used_ns);
        }
    }
}
