//! CPU use during a phase outside the peers: by kernel threads and by a broker.

use ipcperf_model::RoleUsage;

use super::kernel_threads::{KernelThreadTimes, KernelThreads};
use super::proc_pid::ProcPid;

/// One reading of what they have used so far.
#[derive(Clone, Debug)]
pub(super) struct HelperReading {
    kernel_threads: Option<KernelThreadTimes>,
    broker: Option<ProcPid>,
}

/// Use between two readings.
#[derive(Clone, Debug)]
pub(super) struct HelperUsage {
    pub(super) kernel_thread_ns: Option<u64>,
    pub(super) broker: Option<RoleUsage>,
}

impl HelperReading {
    /// Takes a reading of the kernel threads and of the broker `broker_pid`.
    pub(super) fn now(broker_pid: Option<u32>, kernel_threads: Option<&KernelThreads>) -> Self {
        Self {
            kernel_threads: kernel_threads.and_then(KernelThreads::times),
            broker: broker_pid.and_then(ProcPid::read),
        }
    }

    /// Use from `self` to `end`.
    pub(super) fn until(&self, end: &Self) -> HelperUsage {
        let kernel_threads = self.kernel_threads.as_ref().zip(end.kernel_threads.as_ref());
        HelperUsage {
            kernel_thread_ns: kernel_threads.map(|(before, after)| before.until(after)),
            broker: self
                .broker
                .as_ref()
                .zip(end.broker.as_ref())
                .map(|(before, after)| before.until(after)),
        }
    }
}
