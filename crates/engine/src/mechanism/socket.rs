//! Ends made of one connected socket each.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::sockopt::{
    set_socket_recv_buffer_size, set_socket_recv_buffer_size_force, set_socket_send_buffer_size,
    set_socket_send_buffer_size_force, socket_recv_buffer_size, socket_send_buffer_size,
};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::descriptor::refused;
use super::{Blocking, Descriptors, Endpoint, Granted, Limit, Opened, Setup};
use crate::Failure;

/// One end of a connected socket; `KEEPS_BOUNDARIES` for datagrams and sequenced packets.
#[derive(Debug)]
pub(super) struct SocketEnd<const KEEPS_BOUNDARIES: bool> {
    pub(super) socket: OwnedFd,
}

impl<const KEEPS_BOUNDARIES: bool> Endpoint for SocketEnd<KEEPS_BOUNDARIES> {
    const KEEPS_BOUNDARIES: bool = KEEPS_BOUNDARIES;

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        rustix::io::write(&self.socket, bytes)
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        rustix::io::read(&self.socket, bytes)
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        Some(Descriptors { read: self.socket.as_fd(), write: self.socket.as_fd() })
    }
}

/// The flags a socket of this set-up is made with.
pub(super) fn flags(setup: &Setup<'_>) -> SocketFlags {
    match setup.blocking {
        Blocking::Wait => SocketFlags::CLOEXEC,
        Blocking::Try => SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
    }
}

/// Two unnamed Unix domain sockets, connected to each other, with the buffers asked for.
pub(super) fn unix_pair<const KEEPS_BOUNDARIES: bool>(
    kind: SocketType,
    setup: &Setup<'_>,
) -> Result<Opened<SocketEnd<KEEPS_BOUNDARIES>>, Failure> {
    let (sender, receiver) = socketpair(AddressFamily::UNIX, kind, flags(setup), None)
        .map_err(|errno| refused("socketpair(AF_UNIX)", errno))?;
    joined(sender, receiver, setup)
}

/// Two connected sockets as ends, with the buffers asked for. What is granted is the sender's
/// `SO_SNDBUF`: it alone bounds what a Unix domain socket holds.
pub(super) fn joined<const KEEPS_BOUNDARIES: bool>(
    sender: OwnedFd,
    receiver: OwnedFd,
    setup: &Setup<'_>,
) -> Result<Opened<SocketEnd<KEEPS_BOUNDARIES>>, Failure> {
    let granted_bytes = set_buffers(&sender, setup.kernel_buffer_asked_bytes)?.send_bytes;
    set_buffers(&receiver, setup.kernel_buffer_asked_bytes)?;
    Ok(Opened {
        sender: SocketEnd { socket: sender },
        receiver: SocketEnd { socket: receiver },
        granted: Granted { kernel_buffer_bytes: Some(granted_bytes) },
    })
}

/// What the kernel says a socket may hold. Linux doubles what it is asked for, to have room for
/// its own bookkeeping, and reports the doubled number.
#[derive(Clone, Copy, Debug)]
pub(super) struct SocketBuffers {
    pub(super) send_bytes: u64,
    pub(super) receive_bytes: u64,
}

/// Asks for both buffers of `socket` and returns what was granted. Beyond the system's maximum the
/// privileged form is tried; where it is refused, the maximum stands.
pub(super) fn set_buffers(
    socket: &OwnedFd,
    asked_bytes: Option<u64>,
) -> Result<SocketBuffers, Failure> {
    if let Some(bytes) = asked_bytes {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(i32::MAX as usize / 2);
        set_socket_send_buffer_size(socket, bytes).map_err(|e| refused("SO_SNDBUF", e))?;
        set_socket_recv_buffer_size(socket, bytes).map_err(|e| refused("SO_RCVBUF", e))?;
        if granted(socket)?.send_bytes < bytes as u64 {
            let _unprivileged = set_socket_send_buffer_size_force(socket, bytes);
        }
        if granted(socket)?.receive_bytes < bytes as u64 {
            let _unprivileged = set_socket_recv_buffer_size_force(socket, bytes);
        }
    }
    granted(socket)
}

fn granted(socket: &OwnedFd) -> Result<SocketBuffers, Failure> {
    let send = socket_send_buffer_size(socket).map_err(|e| refused("SO_SNDBUF", e))?;
    let receive = socket_recv_buffer_size(socket).map_err(|e| refused("SO_RCVBUF", e))?;
    Ok(SocketBuffers { send_bytes: send as u64, receive_bytes: receive as u64 })
}

/// The largest message of a Unix domain socket that keeps boundaries: `unix_dgram_sendmsg` refuses
/// what exceeds `sk_sndbuf - 32`. Found on a socket set up alike; `None` where none can be made,
/// which the run will then report.
pub(super) fn unix_limit(kind: SocketType, setup: &Setup<'_>) -> Option<Limit> {
    let (socket, peer) = socketpair(AddressFamily::UNIX, kind, flags(setup), None).ok()?;
    let send_bytes = set_buffers(&socket, setup.kernel_buffer_asked_bytes).ok()?.send_bytes;
    let limit_bytes = send_bytes.saturating_sub(32);
    if setup.buffer_bytes <= limit_bytes && !takes(&socket, setup.buffer_bytes) {
        return largest_taken(&socket, &peer, limit_bytes);
    }
    let because = format!("SO_SNDBUF is {send_bytes} bytes, 32 of them the kernel's");
    Some(Limit { bytes: limit_bytes, because })
}

/// Whether one message of `bytes` goes into `socket` now.
fn takes(socket: &OwnedFd, bytes: u64) -> bool {
    let message = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX).max(1)];
    rustix::net::send(socket, &message, rustix::net::SendFlags::DONTWAIT).is_ok()
}

/// Finds the largest message by halving, where the kernel cannot allocate what the buffer allows.
fn largest_taken(socket: &OwnedFd, peer: &OwnedFd, limit_bytes: u64) -> Option<Limit> {
    let (mut fits, mut fails) = (0, limit_bytes);
    while fails - fits > 1 {
        let middle = fits + (fails - fits) / 2;
        if takes(socket, middle) {
            fits = middle;
            let flags = rustix::net::RecvFlags::DONTWAIT;
            rustix::net::recv(peer, &mut [0_u8; 1][..], flags).ok()?;
        } else {
            fails = middle;
        }
    }
    Some(Limit { bytes: fits, because: "the kernel allocates no larger one".to_owned() })
}
