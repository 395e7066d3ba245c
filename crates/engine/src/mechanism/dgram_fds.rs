//! `dgram-fds`: Unix domain datagrams that carry descriptors in addition to their bytes.

use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::io::Errno;
use rustix::net::SocketType;

use super::readiness::{self, Select, WAIT_SELECT};
use super::scm_rights::{FDS, close, companions, datagram_pair, recv_with, send_with};
use super::socket::{set_buffers, unix_limit};
use crate::channel::{
    Channel, Descriptors, Documentation, Endpoint, Granted, Mechanism, Opened, Setup,
};

/// Facts about `dgram-fds`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "dgram-fds",
    about: "Unix domain datagram with the whole message and descriptors",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::SenderTold,
    unrelated: Unrelated::No("descriptors are inherited or passed on"),
    helper: Helper::Nobody,
    options: &[FDS, WAIT_SELECT],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "The message goes in one sendmsg, with descriptors in an SCM_RIGHTS control \
            message (32 bytes of it for three or four); one recvmsg takes both. The kernel takes a \
            reference to each open file, and gives the receiver a descriptor for it, which the \
            receiver closes at once: passing, installing and closing are part of what is measured, \
            a call more for each descriptor on the receiver's side. What is passed is /dev/null: \
            sockets that are passed cost more, as the kernel looks after cycles of them. With \
            wait=select each sendmsg and each recvmsg is preceded by a select.",
        message_boundaries: "Kept: one receive, one message.",
        minimum_kernel: "Linux 2.6.23 (MSG_CMSG_CLOEXEC).",
        defaults_that_matter: "As with unix-dgram. At most SCM_MAX_FD (253) descriptors go with \
            one message, and those on their way count against the sender's limit on open files: at \
            most 64 are asked for here.",
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
        let end = |socket| Ok(DgramFdsEnd { socket, companions: companions(setup)?, calls: 0 });
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
    companions: Vec<OwnedFd>,
    calls: u64,
}

impl Endpoint for DgramFdsEnd {
    const KEEPS_BOUNDARIES: bool = true;

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.calls += 1;
        send_with(&self.socket, bytes, &self.companions)
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.calls += 1;
        let arrived = recv_with(&self.socket, bytes)?;
        self.calls += arrived.descriptors;
        let arrived = arrived.whole(self.companions.len())?;
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
