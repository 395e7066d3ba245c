//! Reserves disk space behind the end of a results file.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;

/// Reserves `bytes` from the offset `end` of `file` without changing its length.
#[cfg(target_os = "linux")]
pub(crate) fn reserve(file: BorrowedFd<'_>, end: u64, bytes: u64) -> Result<(), Errno> {
    use rustix::fs::{FallocateFlags, fallocate};

    fallocate(file, FallocateFlags::KEEP_SIZE, end, bytes)
}

/// Reserves nothing: only Linux can reserve space without changing the length. A full disk is then detected by the
/// write itself.
#[cfg(not(target_os = "linux"))]
pub(crate) fn reserve(_: BorrowedFd<'_>, _: u64, _: u64) -> Result<(), Errno> {
    Err(Errno::OPNOTSUPP)
}
