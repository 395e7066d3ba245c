//! Failures of system calls that set up a mechanism.

use ipcperf_model::{Failure, FailureKind};
use rustix::io::Errno;

/// Returns the failure of `call`, which the system refused with `errno`.
pub(super) fn setup_failure(call: &str, errno: Errno) -> Failure {
    Failure::from_errno(FailureKind::SetUp, call, errno.raw_os_error())
}
