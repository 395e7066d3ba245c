//! Calls on POSIX message queues. The type of a queue is another one on each system: a file descriptor on Linux, a pointer
//! on FreeBSD.

use std::ffi::CStr;
use std::os::fd::AsFd;

use rustix::fs::fstat;
use rustix::io::Errno;

use crate::platform::errno_result;

/// Time limit of calls that are not to wait.
pub(crate) static PAST: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 0 };

/// Returns `EAGAIN` for the error of a call that would have waited beyond [`PAST`], and other errors unchanged.
pub(crate) fn would_block(errno: Errno) -> Errno {
    if errno == Errno::TIMEDOUT { Errno::AGAIN } else { errno }
}

/// Creates the queue `name`, which only its owner may use, for `messages` messages of `message_bytes` bytes. Returns the
/// result of `mq_open`.
///
/// # Errors
/// Returns `EINVAL` if a number is too large. The caller has to check whether the result is an error.
pub(crate) fn create(
    name: &CStr,
    flags: libc::c_int,
    messages: u64,
    message_bytes: u64,
) -> Result<libc::mqd_t, Errno> {
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC | flags;
    // SAFETY: all zero is a valid value of these plain numbers.
    let mut wanted: libc::mq_attr = unsafe { std::mem::zeroed() };
    let number = |count: u64| libc::c_long::try_from(count).map_err(|_| Errno::INVAL);
    (wanted.mq_maxmsg, wanted.mq_msgsize) = (number(messages)?, number(message_bytes)?);
    // SAFETY: the name is NUL-terminated, and with `O_CREAT` the permissions and the attributes follow in this order.
    Ok(unsafe { libc::mq_open(name.as_ptr(), flags, 0o600 as libc::c_uint, &raw mut wanted) })
}

/// Opens the existing queue `name` to find out about it. Returns the result of `mq_open`.
pub(crate) fn open(name: &CStr) -> libc::mqd_t {
    let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_CLOEXEC;
    // SAFETY: the name is NUL-terminated; without O_CREAT nothing is created.
    unsafe { libc::mq_open(name.as_ptr(), flags) }
}

/// Returns the user who owns an opened queue; `None` if the queue could not be opened.
pub(crate) fn owner_of(opened: Result<impl AsFd, Errno>) -> Option<u32> {
    opened.and_then(fstat).ok().map(|status| status.st_uid)
}

/// Removes the name of a queue.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn unlink(name: &CStr) -> Result<(), Errno> {
    // SAFETY: the name is NUL-terminated.
    errno_result(unsafe { libc::mq_unlink(name.as_ptr()) }).map(drop)
}
