//! Work on one CPU, on a thread of its own: what this program starts shall not inherit the CPU.

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};

/// What `work` returns on `cpu`.
///
/// # Errors
/// The system's refusal to use that CPU.
pub(crate) fn on_cpu<T: Send>(cpu: u32, work: impl FnOnce() -> T + Send) -> Result<T, Errno> {
    let pinned = move || {
        let mut set = CpuSet::new();
        set.set(cpu as usize);
        sched_setaffinity(None, &set)?;
        Ok(work())
    };
    let done = std::thread::scope(|scope| scope.spawn(pinned).join());
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
