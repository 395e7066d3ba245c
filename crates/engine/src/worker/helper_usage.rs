//! CPU use during a phase outside the peers: by kernel threads and by a broker.

use ipcperf_model::RoleUsage;

use super::kernel_threads::KernelThreads;
use super::proc_pid::ProcPid;

/// One reading of what they have used so far.
#[derive(Clone, Debug)]
pub(super) struct HelperReading {
    kernel_thread_ns: Option<u64>,
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
            kernel_thread_ns: kernel_threads.and_then(KernelThreads::cpu_ns),
            broker: broker_pid.and_then(ProcPid::read),
        }
    }

    /// Use from `self` to `end`.
    pub(super) fn until(&self, end: &Self) -> HelperUsage {
        let kernel_thread_ns = self.kernel_thread_ns.zip(end.kernel_thread_ns);
        HelperUsage {
            kernel_thread_ns: kernel_thread_ns.map(|(before, after)| after - before),
            broker: self
                .broker
                .as_ref()
                .zip(end.broker.as_ref())
                .map(|(before, after)| before.until(after)),
        }
    }
}
