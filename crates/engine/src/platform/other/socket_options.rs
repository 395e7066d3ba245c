//! Socket options that are not the same everywhere.

use std::os::fd::{AsRawFd, OwnedFd};

use ipcperf_model::Unavailable;
use rustix::io::Errno;
use rustix::net::SocketAddrUnix;

pub(crate) use super::peer_pid;
use crate::platform::{errno_result, needs};

/// User ID of the other end of a connected Unix domain socket.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn peer_uid(socket: &OwnedFd) -> Result<u32, Errno> {
    let (mut user, mut group) = (0, 0);
    // SAFETY: the system writes one user ID and one group ID.
    let done = unsafe { libc::getpeereid(socket.as_raw_fd(), &raw mut user, &raw mut group) };
    errno_result(done).map(|_| user)
}

/// Reports that the maximum cannot be exceeded: there is no privileged form.
///
/// # Errors
/// Always `EPERM`.
pub(crate) fn set_socket_send_buffer_size_force(_: &OwnedFd, _: usize) -> Result<(), Errno> {
    Err(Errno::PERM)
}

/// Reports that the maximum cannot be exceeded: there is no privileged form.
///
/// # Errors
/// Always `EPERM`.
pub(crate) fn set_socket_recv_buffer_size_force(_: &OwnedFd, _: usize) -> Result<(), Errno> {
    Err(Errno::PERM)
}

/// Address of a name in the abstract namespace, which these systems do not have.
///
/// # Errors
/// Always `EAFNOSUPPORT`.
pub(crate) fn abstract_address(_: &[u8]) -> Result<SocketAddrUnix, Errno> {
    Err(Errno::AFNOSUPPORT)
}

/// Whether there is an abstract namespace.
///
/// # Errors
/// Returns what is missing.
pub(crate) fn abstract_names_available() -> Result<(), Unavailable> {
    Err(needs("Linux"))
}
