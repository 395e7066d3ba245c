//! `dgram-fds`: Unix domain datagrams that carry descriptors in addition to their bytes.

use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::io::Errno;
use rustix::net::SocketType;

use super::readiness::{self, Select, WAIT_SELECT};
use super::scm_rights::{FDS, close, datagram_pair, open_extra_fds, recv_with, send_with};
use super::socket::{set_buffers, unix_limit};
use crate::channel::{
    Channel, Descriptors, Documentation, Endpoint, Granted, Mechanism, Opened, Setup,
};

/// Facts about `dgram-fds`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "dgram-fds",
    about: "Unix datagram with the message and file descriptors",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::ErrorOnSend,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::None,
    options: &[FDS, WAIT_SELECT],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "One sendmsg sends the message together with descriptors, which are in an \
            SCM_RIGHTS control message (32 bytes for three or four descriptors). One recvmsg \
            receives both. For each descriptor, the kernel takes a reference to the open file and \
            installs a new descriptor in the receiver, which closes it at once. Passing, \
            installing and closing are part of the result. The receiver makes one additional call \
            (close) for each descriptor. The descriptors refer to /dev/null. Passing sockets costs \
            more, because the kernel has to check for reference cycles. With wait=select, a peer \
            calls select before each sendmsg and each recvmsg.",
        message_boundaries: "Kept: each receive returns one message.",
        minimum_kernel: "Linux 2.6.23 (MSG_CMSG_CLOEXEC).",
        defaults_that_matter: "The same as for unix-dgram. The kernel allows at most SCM_MAX_FD \
            (253) descriptors per message; the option fds accepts at most 64. The kernel also \
            counts, for each user, the descriptors that are sent but not yet received. While there \
            are more of them than the sender's limit on open files (ulimit -n), sendmsg fails with \
            ETOOMANYREFS, unless the sender has CAP_SYS_RESOURCE or CAP_SYS_ADMIN.",
        references: &["man:unix(7)", "man:cmsg(3)", "man:sendmsg(2)", "man:select(2)"],
    },
    limit: |setup| unix_limit(SocketType::DGRAM, setup),
    execute: readiness::execute::<DgramFds, Select>,
    ..Mechanism::BASE
};

struct DgramFds;

impl Channel for DgramFds {
    type End = DgramFdsEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<DgramFdsEnd>, Failure> {
        let (sender, receiver) = datagram_pair(setup)?;
        let granted_bytes = set_buffers(&sender, setup)?.send_bytes;
        set_buffers(&receiver, setup)?;
        let end = |socket| Ok(DgramFdsEnd { socket, extra_fds: open_extra_fds(setup)?, calls: 0 });
        Ok(Opened {
            sender: end(sender)?,
            receiver: end(receiver)?,
            granted: Granted { kernel_buffer_bytes: Some(granted_bytes) },
        })
    }
}

#[derive(Debug)]
struct DgramFdsEnd {
    socket: OwnedFd,
    extra_fds: Vec<OwnedFd>,
    calls: u64,
}

impl Endpoint for DgramFdsEnd {
    const KEEPS_BOUNDARIES: bool = true;

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.calls += 1;
        send_with(&self.socket, bytes, &self.extra_fds)
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.calls += 1;
        let arrived = recv_with(&self.socket, bytes)?;
        self.calls += arrived.descriptors;
        let arrived = arrived.require_descriptors(self.extra_fds.len())?;
        if let Some(last) = arrived.last {
            close(last);
        }
        Ok(arrived.bytes)
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.calls))
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        Some(Descriptors { read: self.socket.as_fd(), write: self.socket.as_fd() })
    }
}
