//! Socket options that are not the same everywhere.

use std::os::fd::{AsRawFd, OwnedFd};

use ipcperf_model::Unavailable;
use rustix::io::Errno;
use rustix::net::SocketAddrUnix;

use crate::platform::errno_result;

pub(crate) use rustix::net::sockopt::{
    set_socket_recv_buffer_size_force, set_socket_send_buffer_size_force,
};

/// Process ID of the other end of a connected Unix domain socket; 0 for a process of another PID namespace.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn peer_pid(socket: &OwnedFd) -> Result<i32, Errno> {
    peer_credentials(socket).map(|peer| peer.pid)
}

/// User ID of the other end of a connected Unix domain socket.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn peer_uid(socket: &OwnedFd) -> Result<u32, Errno> {
    peer_credentials(socket).map(|peer| peer.uid)
}

fn peer_credentials(socket: &OwnedFd) -> Result<libc::ucred, Errno> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = libc::socklen_t::try_from(size_of::<libc::ucred>()).unwrap_or(0);
    let (socket, value) = (socket.as_raw_fd(), (&raw mut peer).cast());
    let (level, option) = (libc::SOL_SOCKET, libc::SO_PEERCRED);
    // SAFETY: the kernel writes at most `length` bytes, the whole of `peer`, and their number to `length`.
    errno_result(unsafe { libc::getsockopt(socket, level, option, value, &raw mut length) })?;
    Ok(peer)
}

/// Address of a name in the abstract namespace.
///
/// # Errors
/// Returns `ENAMETOOLONG` for a name that is too long.
pub(crate) fn abstract_address(name: &[u8]) -> Result<SocketAddrUnix, Errno> {
    SocketAddrUnix::new_abstract_name(name)
}

/// Whether there is an abstract namespace.
#[allow(clippy::unnecessary_wraps, reason = "fails elsewhere")]
pub(crate) fn abstract_names_available() -> Result<(), Unavailable> {
    Ok(())
}
