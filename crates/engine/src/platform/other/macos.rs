//! macOS.

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::io::Errno;

use crate::platform::errno_result;

pub(crate) mod affinity;
pub(crate) mod close_on_exec;
pub(crate) mod message_queue;

/// Adoption of orphans, which macOS does not have.
pub(crate) mod subreaper {
    use rustix::io::Errno;

    /// Reports that orphans become children of the first process.
    ///
    /// # Errors
    /// Always `ENOSYS`.
    pub(crate) fn acquire() -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }
}

/// Signal that a process gets when its parent dies, which macOS does not have. A peer whose worker was killed runs until
/// it notices that its other peer is gone.
pub(crate) mod parent_death {
    use rustix::io::Errno;
    use rustix::process::Signal;

    /// Signal that was requested.
    #[allow(clippy::unnecessary_wraps, reason = "may fail on Linux")]
    pub(crate) fn parent_process_death_signal() -> Result<Option<Signal>, Errno> {
        Ok(None)
    }

    /// Requests a signal.
    ///
    /// # Errors
    /// Always `ENOSYS`.
    pub(crate) fn set_parent_process_death_signal(_: Option<Signal>) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }
}

/// Identity and resource use of a thread.
pub(crate) mod thread {
    use std::ffi::CStr;

    use rustix::io::Errno;

    use crate::platform::errno_result;

    /// Argument of getrusage. macOS has no argument for the calling thread alone, so the numbers are those of its process.
    pub(crate) const RUSAGE_THREAD: libc::c_int = libc::RUSAGE_SELF;

    /// Identifier of the calling thread, cut to 32 bits.
    #[allow(clippy::cast_possible_truncation, reason = "no instrument of this system uses it")]
    pub(crate) fn id() -> u32 {
        let mut id = 0;
        // SAFETY: the kernel writes one number; the thread is the calling one.
        unsafe { libc::pthread_threadid_np(libc::pthread_self(), &raw mut id) };
        id as u32
    }

    /// Timer slack exists on Linux only.
    pub(crate) fn minimize_timer_slack() {}

    /// Names the calling thread.
    ///
    /// # Errors
    /// Returns the system's error.
    pub(crate) fn set_name(name: &CStr) -> Result<(), Errno> {
        // SAFETY: the name is NUL-terminated.
        errno_result(unsafe { libc::pthread_setname_np(name.as_ptr()) }).map(drop)
    }
}

/// Process ID of the other end of a connected Unix domain socket.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn peer_pid(socket: &OwnedFd) -> Result<i32, Errno> {
    let mut pid: libc::pid_t = 0;
    let mut length = libc::socklen_t::try_from(size_of::<libc::pid_t>()).unwrap_or(0);
    let (value, option) = ((&raw mut pid).cast(), libc::LOCAL_PEERPID);
    // SAFETY: the kernel writes at most `length` bytes, the whole of `pid`, and their number to `length`.
    let got = unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_LOCAL, option, value, &raw mut length)
    };
    errno_result(got).map(|_| pid)
}
