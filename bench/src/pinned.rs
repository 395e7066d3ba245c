//! Work on one CPU, in a separate thread, so that processes started by this program do not inherit the pinning.

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};

/// Returns the result of `work` on `cpu`.
///
/// # Errors
/// Fails if the system refuses to use that CPU.
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
