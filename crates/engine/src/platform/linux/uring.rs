//! io_uring: availability and creation.

use std::fs::read_to_string;
use std::io;

use io_uring::{IoUring, Probe, opcode};
use ipcperf_model::Unavailable;
use rustix::io::Errno;

/// Whether this system has an io_uring that ipcperf can use.
pub(crate) fn available() -> Result<(), Unavailable> {
    probe().map_err(|errno| {
        let disabled = read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
        unavailable(errno, disabled.trim())
    })
}

/// Explains `errno` when `kernel.io_uring_disabled` is `disabled`.
fn unavailable(errno: Errno, disabled: &str) -> Unavailable {
    let explain = |reason: String, remedy: &str| Unavailable { reason, remedy: remedy.to_owned() };
    match (errno, disabled) {
        (Errno::NOSYS, _) => explain(
            format!("io_uring_setup: {errno}"),
            "needs Linux 5.12 with CONFIG_IO_URING, and no seccomp filter that hides the call",
        ),
        (Errno::OPNOTSUPP, _) => explain(
            "this kernel's io_uring lacks an operation that ipcperf needs".to_owned(),
            "needs Linux 5.12",
        ),
        (Errno::PERM, "1") => explain(
            "kernel.io_uring_disabled is 1: only members of kernel.io_uring_group and processes \
                with CAP_SYS_ADMIN may use io_uring"
                .to_owned(),
            "set it to 0 with sysctl, join that group, or run with CAP_SYS_ADMIN",
        ),
        (Errno::PERM, "2") => explain(
            "kernel.io_uring_disabled is 2: io_uring is disabled for all processes".to_owned(),
            "set it to 0 with sysctl",
        ),
        (Errno::PERM | Errno::ACCESS, _) => explain(
            format!("io_uring_setup: {errno}"),
            "needs a seccomp filter that allows io_uring_setup, io_uring_enter and \
                io_uring_register; the default filters of containers do not",
        ),
        _ => explain(
            format!("io_uring_setup: {errno}"),
            "raise the limits on descriptors and locked memory: ulimit -n, ulimit -l",
        ),
    }
}

/// Returns the error number of a call of the crate.
pub(crate) fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// Creates rings for `operations` operations. The flags tell the kernel that a single thread uses them and
/// that deferred work runs in that thread's own calls; kernels before 6.1 do not know these flags.
pub(crate) fn create(operations: u32) -> Result<IoUring, Errno> {
    let made = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(operations);
    match made {
        Err(error) if errno(&error) == Errno::INVAL => IoUring::new(operations),
        other => other,
    }
    .map_err(|error| errno(&error))
}

/// Makes all three io_uring calls once. Returns `EOPNOTSUPP` if the kernel's io_uring is too old.
fn probe() -> Result<(), Errno> {
    let mut queues = create(1)?;
    let mut probe = Probe::new();
    queues.submitter().register_probe(&mut probe).map_err(|error| match errno(&error) {
        Errno::INVAL => Errno::OPNOTSUPP,
        other => other,
    })?;
    // This feature arrived in the same version as chains that a short send ends.
    if !queues.params().is_feature_native_workers() || !probe.is_supported(opcode::Send::CODE) {
        return Err(Errno::OPNOTSUPP);
    }
    // SAFETY: a no-op refers to no memory.
    let queued = unsafe { queues.submission().push(&opcode::Nop::new().build()) };
    queued.map_err(|_| Errno::NOBUFS)?;
    queues.submit_and_wait(1).map(drop).map_err(|error| errno(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_has_its_remedy() {
        for (errno, disabled, reason, remedy) in [
            (Errno::NOSYS, "", "not implemented", "CONFIG_IO_URING"),
            (Errno::PERM, "2", "is 2", "sysctl"),
            (Errno::PERM, "1", "io_uring_group", "join"),
            (Errno::PERM, "0", "not permitted", "seccomp"),
            (Errno::PERM, "", "not permitted", "seccomp"),
            (Errno::OPNOTSUPP, "0", "lacks", "5.12"),
            (Errno::NOMEM, "0", "memory", "ulimit -l"),
        ] {
            let explained = unavailable(errno, disabled);
            assert!(explained.reason.contains(reason), "{}", explained.reason);
            assert!(explained.remedy.contains(remedy), "{}", explained.remedy);
        }
    }
}
