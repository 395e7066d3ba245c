//! Descriptors that a program started later does not inherit. macOS creates no descriptor with the flag, so it is set
//! afterwards: a fork of another thread in between would inherit the descriptor. A worker forks while it has one thread.

use std::ops::BitOr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::{Errno, FdFlags, fcntl_setfd, ioctl_fionbio};
use rustix::net::{AddressFamily, Protocol, RecvFlags, SocketType};

/// Flags of a call that receives descriptors. macOS has no flag by which they are closed on exec.
pub(crate) const RECEIVED: RecvFlags = RecvFlags::empty();

/// Flags of a new socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SocketFlags {
    is_nonblocking: bool,
}

impl SocketFlags {
    /// Closed on exec, as every socket that is created here.
    pub(crate) const CLOEXEC: Self = Self { is_nonblocking: false };
    /// Calls do not block.
    pub(crate) const NONBLOCK: Self = Self { is_nonblocking: true };

    fn apply_to(self, socket: OwnedFd) -> Result<OwnedFd, Errno> {
        if self.is_nonblocking {
            ioctl_fionbio(&socket, true)?;
        }
        close_on_exec(socket)
    }
}

impl BitOr for SocketFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self { is_nonblocking: self.is_nonblocking || other.is_nonblocking }
    }
}

/// Flags of a new pipe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PipeFlags;

impl PipeFlags {
    /// Closed on exec, as every pipe that is created here.
    pub(crate) const CLOEXEC: Self = Self;
}

fn close_on_exec(descriptor: OwnedFd) -> Result<OwnedFd, Errno> {
    fcntl_setfd(&descriptor, FdFlags::CLOEXEC)?;
    Ok(descriptor)
}

/// Creates a socket.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn socket_with(
    family: AddressFamily,
    kind: SocketType,
    flags: SocketFlags,
    protocol: Option<Protocol>,
) -> Result<OwnedFd, Errno> {
    flags.apply_to(rustix::net::socket(family, kind, protocol)?)
}

/// Creates two connected sockets.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn socketpair(
    family: AddressFamily,
    kind: SocketType,
    flags: SocketFlags,
    protocol: Option<Protocol>,
) -> Result<(OwnedFd, OwnedFd), Errno> {
    let none = rustix::net::SocketFlags::empty();
    let (one, other) = rustix::net::socketpair(family, kind, none, protocol)?;
    Ok((flags.apply_to(one)?, flags.apply_to(other)?))
}

/// Accepts a connection. Its socket may have inherited from the listening one that calls do not block.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn accept_with(listener: impl AsFd, flags: SocketFlags) -> Result<OwnedFd, Errno> {
    flags.apply_to(rustix::net::accept(listener)?)
}

/// Creates a pipe, and returns the end to read from and the end to write to.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn pipe_with(_: PipeFlags) -> Result<(OwnedFd, OwnedFd), Errno> {
    let (read, write) = rustix::pipe::pipe()?;
    Ok((close_on_exec(read)?, close_on_exec(write)?))
}
