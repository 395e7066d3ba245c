//! Failures of the harness itself, caused by a temporary shortage on the machine.

use ipcperf_model::{Failure, FailureKind};
use rustix::io::Errno;

/// Failure of a call of the harness at `place`, which the system refused with `errno`; the remedy is the one that helps
/// most often.
#[must_use]
pub(crate) fn harness_failure(
    what: FailureKind,
    place: impl Into<String>,
    errno: Errno,
) -> Failure {
    let failure =
        Failure { transient: true, ..Failure::from_errno(what, place, errno.raw_os_error()) };
    match exhaustion_remedy(errno) {
        Some(remedy) => failure.with_remedy(remedy),
        None => failure,
    }
}

/// Remedy for a full file system.
pub(crate) const NO_SPACE: &str = "free disk space in TMPDIR (default: /tmp), in /dev/shm or in the \
                                   folder of the option dir, or set TMPDIR or dir to a folder with \
                                   more space";

/// Remedy for an exhausted resource; `None` if `errno` does not indicate one.
#[must_use]
pub fn exhaustion_remedy(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::AGAIN => {
            "allow more processes: ulimit -u, or pids.max of the control group (cat /proc/self/cgroup)"
        }
        Errno::MFILE => "allow more open files: ulimit -n 1024",
        Errno::NFILE => "allow more open files on this machine: sysctl fs.file-max",
        Errno::NOMEM => {
            "free memory, or raise the limit: ulimit -v, memory.max of the control group"
        }
        _ => return None,
    })
}
