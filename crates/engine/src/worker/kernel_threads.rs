//! The kernel's own threads, one a CPU, which may do part of a mechanism's work: what the loopback
//! interface has to deliver is left to `ksoftirqd` when there is much of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use ipcperf_model::RunSpec;
use ipcperf_model::mechanism::Helper;

/// The threads of the kernel that work for a mechanism on the CPUs of a run.
#[derive(Clone, Debug)]
pub(super) struct KernelThreads {
    schedstats: Vec<PathBuf>,
}

impl KernelThreads {
    /// Those on the CPUs of `spec`. `None` where it names none, where the mechanism has no such
    /// threads, or where one cannot be seen, as in a container.
    pub(super) fn of(spec: &RunSpec, helper: Helper) -> Option<Self> {
        let Helper::KernelThread(name) = helper else { return None };
        let cpus: BTreeSet<u32> = spec.cpus?.into();
        let wanted: Vec<String> = cpus.iter().map(|cpu| format!("{name}/{cpu}")).collect();
        let is_wanted = |process: &PathBuf| {
            fs::read_to_string(process.join("comm"))
                .is_ok_and(|comm| wanted.iter().any(|name| name == comm.trim_end()))
        };
        let processes = fs::read_dir("/proc").ok()?.flatten().map(|entry| entry.path());
        let found: Vec<PathBuf> = processes.filter(is_wanted).take(wanted.len()).collect();
        (found.len() == wanted.len())
            .then(|| Self { schedstats: found.iter().map(|path| path.join("schedstat")).collect() })
    }

    /// CPU time they have used so far, ns: the first field of their `schedstat`. Exact for those
    /// that sleep; behind by a tick at most for one that runs.
    pub(super) fn cpu_ns(&self) -> Option<u64> {
        self.schedstats.iter().map(cpu_ns).sum()
    }
}

fn cpu_ns(schedstat: &PathBuf) -> Option<u64> {
    let text = fs::read_to_string(schedstat).ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::spec;

    const SOFT: Helper = Helper::KernelThread("ksoftirqd");

    #[test]
    fn a_mechanism_without_such_threads_has_none() {
        assert!(KernelThreads::of(&spec("pipe", [0, 0]), Helper::Nobody).is_none());
    }

    #[test]
    fn a_cpu_that_is_not_there_has_none() {
        assert!(KernelThreads::of(&spec("tcp", [0, 1_000_000]), SOFT).is_none());
    }

    /// In a container it cannot be seen, and then nothing is said of it.
    #[test]
    fn what_is_seen_has_used_some_time() {
        if let Some(threads) = KernelThreads::of(&spec("tcp", [0, 0]), SOFT) {
            assert!(threads.cpu_ns().is_some());
        }
    }
}
