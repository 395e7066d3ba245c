//! The kernel's own thread on a CPU, which may do part of a mechanism's work: what the loopback
//! interface has to deliver is left to `ksoftirqd` when there is much of it.

use std::fs;
use std::path::PathBuf;

use crate::RunSpec;
use crate::mechanism::{self, Nearness};

/// A thread of the kernel that works for a mechanism.
#[derive(Clone, Debug)]
pub(super) struct KernelThread {
    schedstat: PathBuf,
}

impl KernelThread {
    /// The one on the CPU that the parties of `spec` share. `None` where they share none, where the
    /// mechanism has no such thread, or where it cannot be seen, as in a container.
    pub(super) fn of(spec: &RunSpec) -> Option<Self> {
        let name = mechanism::find(&spec.mechanism)?.kernel_thread?;
        let cpu = spec.cpus.filter(|_| spec.nearness() == Nearness::OneCpu)?[0];
        let wanted = format!("{name}/{cpu}");
        let is_wanted = |process: &PathBuf| {
            fs::read_to_string(process.join("comm")).is_ok_and(|comm| comm.trim_end() == wanted)
        };
        let mut processes = fs::read_dir("/proc").ok()?.flatten().map(|entry| entry.path());
        Some(Self { schedstat: processes.find(is_wanted)?.join("schedstat") })
    }

    /// CPU time it has used so far, ns: the first field of its `schedstat`. Exact while it sleeps,
    /// as it does when someone else reads this on its CPU.
    pub(super) fn cpu_ns(&self) -> Option<u64> {
        let text = fs::read_to_string(&self.schedstat).ok()?;
        text.split_ascii_whitespace().next()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::workload::Kind;
    use crate::{KernelBuffer, Mode, TouchCheck, WarmUp};

    fn spec(mechanism: &str, cpus: [u32; 2]) -> RunSpec {
        RunSpec {
            mechanism: mechanism.to_owned(),
            options: BTreeMap::new(),
            workload: Kind::Stream,
            mode: Mode::TwoProcesses,
            cpus: Some(cpus),
            buffer_bytes: 64,
            total_bytes: None,
            kernel_buffer: KernelBuffer::Default,
            check: TouchCheck::Off,
            warm_up: WarmUp::None,
        }
    }

    #[test]
    fn only_a_mechanism_that_has_one_and_parties_that_share_a_cpu_are_asked() {
        assert!(KernelThread::of(&spec("pipe", [0, 0])).is_none());
        assert!(KernelThread::of(&spec("tcp", [0, 1])).is_none());
    }

    /// In a container it cannot be seen, and then nothing is said of it.
    #[test]
    fn what_is_seen_has_used_some_time() {
        if let Some(thread) = KernelThread::of(&spec("tcp", [0, 0])) {
            assert!(thread.cpu_ns().is_some());
        }
    }
}
