//! POSIX message queues: macOS has none.

use std::ffi::CStr;

use rustix::io::Errno;

/// Returns the user who owns the queue `name`: there is no queue.
pub(crate) fn owner(_: &CStr) -> Option<u32> {
    None
}

/// Removes the name of a queue: there is no queue.
///
/// # Errors
/// Always `ENOSYS`.
pub(crate) fn unlink(_: &CStr) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}
