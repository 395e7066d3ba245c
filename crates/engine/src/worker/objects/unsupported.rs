//! Limits of kernel objects, on systems where they are not read: the instrument that asks for them needs Linux.

use std::os::fd::BorrowedFd;

/// Kind of `descriptor` with its limits in bytes: unknown.
pub(super) fn descriptor_limits(_: BorrowedFd<'_>) -> Vec<(String, &'static str, u64)> {
    Vec::new()
}

/// System V queues that this process was the last to send to or receive from: unknown.
pub(super) fn system_v_queues() -> Vec<((i64, String, &'static str), u64)> {
    Vec::new()
}
