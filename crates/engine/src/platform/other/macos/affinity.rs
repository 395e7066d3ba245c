//! CPUs of a thread: macOS has no call that pins a thread to a CPU.

use rustix::io::Errno;
use rustix::process::Pid;

/// Whether a thread can be pinned to a CPU.
pub(crate) const CAN_PIN: bool = false;

/// Set of CPUs.
#[derive(Clone, Debug)]
pub(crate) struct CpuSet(Vec<usize>);

impl CpuSet {
    /// Number of CPUs that a set can hold.
    pub(crate) const MAX_CPU: usize = 1024;

    /// Creates an empty set.
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds `cpu`.
    pub(crate) fn set(&mut self, cpu: usize) {
        self.0.push(cpu);
    }

    /// Whether the set holds `cpu`.
    pub(crate) fn is_set(&self, cpu: usize) -> bool {
        self.0.contains(&cpu)
    }
}

/// CPUs that the process may use: all.
///
/// # Errors
/// Returns `ENOSYS` if the system does not know their number.
pub(crate) fn sched_getaffinity(_: Option<Pid>) -> Result<CpuSet, Errno> {
    let count = std::thread::available_parallelism().map_err(|_| Errno::NOSYS)?;
    Ok(CpuSet((0..count.get()).collect()))
}

/// Reports that a thread cannot be pinned.
///
/// # Errors
/// Always `ENOSYS`.
pub(crate) fn sched_setaffinity(_: Option<Pid>, _: &CpuSet) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}
