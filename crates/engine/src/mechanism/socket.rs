//! Endpoints made of one connected socket each.

use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::{Failure, Privilege};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::sockopt::{
    set_socket_recv_buffer_size, set_socket_send_buffer_size, socket_recv_buffer_size,
    socket_send_buffer_size,
};
use rustix::net::{AddressFamily, SocketType};

use super::setup_failure::setup_failure;
use super::waiting::TryTransfer;
use crate::channel::{Blocking, Descriptors, Endpoint, Granted, Limit, Opened, Setup};
use crate::platform::close_on_exec::{SocketFlags, socketpair};
use crate::platform::read_write;
use crate::platform::socket_options::{
    set_socket_recv_buffer_size_force, set_socket_send_buffer_size_force,
};

/// One end of a connected socket; `KEEPS_BOUNDARIES` for datagrams and sequenced packets.
#[derive(Debug)]
pub(super) struct SocketEnd<const KEEPS_BOUNDARIES: bool> {
    pub(super) socket: OwnedFd,
}

impl<const KEEPS_BOUNDARIES: bool> Endpoint for SocketEnd<KEEPS_BOUNDARIES> {
    const KEEPS_BOUNDARIES: bool = KEEPS_BOUNDARIES;

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        read_write::write(&self.socket, bytes)
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        read_write::read(&self.socket, bytes)
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        Some(Descriptors { read: self.socket.as_fd(), write: self.socket.as_fd() })
    }
}

impl<const KEEPS_BOUNDARIES: bool> TryTransfer for SocketEnd<KEEPS_BOUNDARIES> {}

/// Returns the flags with which a socket of this setup is created.
pub(super) fn flags(setup: &Setup<'_>) -> SocketFlags {
    match setup.blocking {
        Blocking::Wait => SocketFlags::CLOEXEC,
        Blocking::Try => SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
    }
}

/// Creates two unnamed Unix domain sockets, connected to each other, with the requested buffers.
pub(super) fn unix_pair<const KEEPS_BOUNDARIES: bool>(
    kind: SocketType,
    setup: &Setup<'_>,
) -> Result<Opened<SocketEnd<KEEPS_BOUNDARIES>>, Failure> {
    let (sender, receiver) = socketpair(AddressFamily::UNIX, kind, flags(setup), None)
        .map_err(|errno| setup_failure("socketpair(AF_UNIX)", errno))?;
    open_endpoints(sender, receiver, setup)
}

/// Makes endpoints of two connected sockets, with the requested buffers. The granted size is the sender's
/// `SO_SNDBUF`, which alone bounds what a Unix domain socket holds.
pub(super) fn open_endpoints<const KEEPS_BOUNDARIES: bool>(
    sender: OwnedFd,
    receiver: OwnedFd,
    setup: &Setup<'_>,
) -> Result<Opened<SocketEnd<KEEPS_BOUNDARIES>>, Failure> {
    let granted_bytes = set_buffers(&sender, setup)?.send_bytes;
    set_buffers(&receiver, setup)?;
    Ok(Opened {
        sender: SocketEnd { socket: sender },
        receiver: SocketEnd { socket: receiver },
        granted: Granted { kernel_buffer_bytes: Some(granted_bytes) },
    })
}

/// Returns the end of one peer, a connected and blocking socket.
pub(super) fn own_endpoint<const KEEPS_BOUNDARIES: bool>(
    socket: OwnedFd,
    setup: &Setup<'_>,
) -> Result<(SocketEnd<KEEPS_BOUNDARIES>, Granted), Failure> {
    let granted_bytes = set_buffers(&socket, setup)?.send_bytes;
    ioctl_fionbio(&socket, setup.blocking == Blocking::Try)
        .map_err(|e| setup_failure("ioctl(FIONBIO)", e))?;
    Ok((SocketEnd { socket }, Granted { kernel_buffer_bytes: Some(granted_bytes) }))
}

/// Sizes that the kernel reports for the buffers of a socket. Linux doubles the requested size to have room
/// for its own bookkeeping, and reports the doubled number.
#[derive(Clone, Copy, Debug)]
pub(super) struct SocketBuffers {
    pub(super) send_bytes: u64,
    pub(super) receive_bytes: u64,
}

/// Requests both buffers of `socket` in the size that `setup` gives, and returns what was granted: twice the
/// request, since the kernel adds as much for its own use (socket(7)). Beyond the system's maximum, tries the
/// privileged form; if that is refused, the maximum stands.
pub(super) fn set_buffers(socket: &OwnedFd, setup: &Setup<'_>) -> Result<SocketBuffers, Failure> {
    if let Some(bytes) = setup.kernel_buffer_requested_bytes {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(i32::MAX as usize / 2);
        set_socket_send_buffer_size(socket, bytes).map_err(|e| setup_failure("SO_SNDBUF", e))?;
        set_socket_recv_buffer_size(socket, bytes).map_err(|e| setup_failure("SO_RCVBUF", e))?;
        if setup.privilege == Privilege::Used {
            force_buffers(socket, bytes)?;
        }
    }
    granted_buffers(socket)
}

/// Tries the privileged form if less than `bytes` was granted.
fn force_buffers(socket: &OwnedFd, bytes: usize) -> Result<(), Failure> {
    let doubled_bytes = 2 * bytes as u64;
    if granted_buffers(socket)?.send_bytes < doubled_bytes {
        let _unprivileged = set_socket_send_buffer_size_force(socket, bytes);
    }
    if granted_buffers(socket)?.receive_bytes < doubled_bytes {
        let _unprivileged = set_socket_recv_buffer_size_force(socket, bytes);
    }
    Ok(())
}

fn granted_buffers(socket: &OwnedFd) -> Result<SocketBuffers, Failure> {
    let send = socket_send_buffer_size(socket).map_err(|e| setup_failure("SO_SNDBUF", e))?;
    let receive = socket_recv_buffer_size(socket).map_err(|e| setup_failure("SO_RCVBUF", e))?;
    Ok(SocketBuffers { send_bytes: send as u64, receive_bytes: receive as u64 })
}

/// Returns the largest message of a Unix domain socket that keeps boundaries: `unix_dgram_sendmsg` refuses
/// messages above `sk_sndbuf - 32`. Determined on a socket with the same setup; `None` if no socket can be
/// created, which the run will then report.
pub(super) fn unix_limit(kind: SocketType, setup: &Setup<'_>) -> Option<Limit> {
    let (socket, peer) = socketpair(AddressFamily::UNIX, kind, flags(setup), None).ok()?;
    let send_bytes = set_buffers(&socket, setup).ok()?.send_bytes;
    let limit_bytes = send_bytes.saturating_sub(32);
    if setup.buffer_bytes <= limit_bytes && !accepts_message(&socket, setup.buffer_bytes) {
        return find_max_message(&socket, &peer, limit_bytes);
    }
    let because = format!(
        "SO_SNDBUF is {send_bytes} bytes, of which the kernel uses 32; --kernel-buffer sets it"
    );
    Some(Limit { bytes: limit_bytes, reason: because })
}

/// Returns whether `socket` accepts one message of `bytes` bytes now.
fn accepts_message(socket: &OwnedFd, bytes: u64) -> bool {
    let message = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX).max(1)];
    rustix::net::send(socket, &message, rustix::net::SendFlags::DONTWAIT).is_ok()
}

/// Finds the largest message by bisection if the kernel cannot allocate as much as the buffer allows.
fn find_max_message(socket: &OwnedFd, peer: &OwnedFd, limit_bytes: u64) -> Option<Limit> {
    let (mut fits, mut fails) = (0, limit_bytes);
    while fails - fits > 1 {
        let middle = fits + (fails - fits) / 2;
        if accepts_message(socket, middle) {
            fits = middle;
            let flags = rustix::net::RecvFlags::DONTWAIT;
            rustix::net::recv(peer, &mut [0_u8; 1][..], flags).ok()?;
        } else {
            fails = middle;
        }
    }
    Some(Limit { bytes: fits, reason: "the kernel allocates no larger message".to_owned() })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn setup<'a>(
        options: &'a BTreeMap<String, String>,
        requested_bytes: u64,
        privilege: Privilege,
    ) -> Setup<'a> {
        let kernel_buffer_requested_bytes = Some(requested_bytes);
        Setup { kernel_buffer_requested_bytes, privilege, ..Setup::with_options(options) }
    }

    #[test]
    fn more_than_the_maximum_is_for_privilege_alone_and_then_whole() {
        let most = std::fs::read_to_string("/proc/sys/net/core/wmem_max").unwrap();
        let most_bytes: u64 = most.trim().parse().unwrap();
        // The kernel reports twice the size, so its answer to a request of twice the maximum equals the
        // request although only half was granted. Code that compares the two would not use the privileged
        // form.
        let (options, requested_bytes) = (BTreeMap::new(), 2 * most_bytes);
        let granted_bytes = |privilege| {
            let setup = setup(&options, requested_bytes, privilege);
            let (one, _other) =
                socketpair(AddressFamily::UNIX, SocketType::STREAM, flags(&setup), None).unwrap();
            set_buffers(&one, &setup).unwrap().send_bytes
        };
        assert_eq!(granted_bytes(Privilege::Unused), 2 * most_bytes);
        let (bare, _other) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .unwrap();
        let bytes = usize::try_from(requested_bytes).unwrap();
        let is_privileged = set_socket_send_buffer_size_force(&bare, bytes).is_ok();
        let wanted_bytes = if is_privileged { 2 * requested_bytes } else { 2 * most_bytes };
        assert_eq!(granted_bytes(Privilege::Used), wanted_bytes);
    }
}
