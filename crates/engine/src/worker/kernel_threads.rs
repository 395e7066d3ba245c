//! Per-CPU kernel threads that may do part of a mechanism's work. Under load the loopback interface leaves delivery to
//! `ksoftirqd`.

use std::fs;
use std::path::PathBuf;

use ipcperf_model::RunSpec;
use ipcperf_model::mechanism::Helper;

/// Kernel threads that work for a mechanism on the CPUs of a run.
#[derive(Clone, Debug)]
pub(super) struct KernelThreads {
    schedstats: Vec<PathBuf>,
}

impl KernelThreads {
    /// Finds the threads on the CPUs of `spec`. Returns `None` if `spec` names no CPUs, if the mechanism has no such
    /// threads, or if one is not visible, as in a container.
    pub(super) fn find(spec: &RunSpec, helper: Helper) -> Option<Self> {
        let Helper::KernelThread(name) = helper else { return None };
        let cpus = spec.all_cpus();
        if cpus.is_empty() {
            return None;
        }
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

    /// CPU time they have used so far, ns: the first field of their `schedstat`. Exact for threads that sleep; at most
    /// one tick late for one that runs.
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
        if let Some(threads) = find_threads("tcp", [0, 0]) {
            assert!(threads.cpu_ns().is_some());
        }
    }
}
