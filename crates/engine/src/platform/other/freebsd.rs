//! FreeBSD.

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::io::Errno;

use crate::platform::errno_result;

pub(crate) mod message_queue;

pub(crate) use crate::platform::linux_or_freebsd::{affinity, close_on_exec, parent_death};

/// Adoption of orphans.
pub(crate) mod subreaper {
    use std::ptr::null_mut;

    use rustix::io::Errno;

    use crate::platform::errno_result;

    /// Makes this process the parent of its orphaned descendants.
    pub(crate) fn acquire() -> Result<(), Errno> {
        // SAFETY: the call takes only numbers; 0 is this process.
        let got = unsafe { libc::procctl(libc::P_PID, 0, libc::PROC_REAP_ACQUIRE, null_mut()) };
        errno_result(got).map(drop)
    }
}

/// Identity and resource use of a thread.
pub(crate) mod thread {
    use std::ffi::CStr;

    use rustix::io::Errno;

    /// Argument of getrusage for the calling thread alone.
    pub(crate) const RUSAGE_THREAD: libc::c_int = libc::RUSAGE_THREAD;

    /// Identifier of the calling thread.
    pub(crate) fn id() -> u32 {
        // SAFETY: the call has no precondition.
        unsafe { libc::pthread_getthreadid_np() }.unsigned_abs()
    }

    /// Timer slack exists on Linux only.
    pub(crate) fn minimize_timer_slack() {}

    /// Names the calling thread.
    #[allow(clippy::unnecessary_wraps, reason = "may fail on Linux")]
    pub(crate) fn set_name(name: &CStr) -> Result<(), Errno> {
        // SAFETY: the name is NUL-terminated, and the thread is the calling one.
        unsafe { libc::pthread_set_name_np(libc::pthread_self(), name.as_ptr()) };
        Ok(())
    }
}

/// Process ID of the other end of a connected Unix domain socket.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn peer_pid(socket: &OwnedFd) -> Result<i32, Errno> {
    // SAFETY: all zero is a valid value of these plain numbers.
    let mut peer: libc::xucred = unsafe { std::mem::zeroed() };
    let mut length = libc::socklen_t::try_from(size_of::<libc::xucred>()).unwrap_or(0);
    let value = (&raw mut peer).cast();
    // SAFETY: the kernel writes at most `length` bytes, the whole of `peer`, and their number to `length`. Level 0 is
    // that of Unix domain sockets (unix(4)).
    let got = unsafe {
        libc::getsockopt(socket.as_raw_fd(), 0, libc::LOCAL_PEERCRED, value, &raw mut length)
    };
    errno_result(got)?;
    // SAFETY: since FreeBSD 13 the kernel stores the process ID in the union; before, it leaves the zero.
    Ok(unsafe { peer.cr_pid__c_anonymous_union.cr_pid })
}
