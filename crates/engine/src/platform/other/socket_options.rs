//! Socket options that are not the same everywhere.

use std::os::fd::OwnedFd;

use ipcperf_model::Unavailable;
use rustix::io::Errno;
use rustix::net::SocketAddrUnix;

pub(crate) use super::peer_pid;
use crate::platform::needs;

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
