//! Implementation of `dgram-fds`.

use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::Failure;
use rustix::io::Errno;
use rustix::net::SocketType;

use crate::channel::{Channel, Descriptors, Endpoint, Granted, Mechanism, Opened, Setup};
use crate::mechanism::scm_rights::{close, datagram_pair, open_extra_fds, recv_with, send_with};
use crate::mechanism::socket::{set_buffers, unix_limit};
use crate::mechanism::waiting::{self, NonblockingWait};

/// The part of `dgram-fds` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    limit: |setup| unix_limit(SocketType::DGRAM, setup),
    execute: waiting::execute::<DgramFds, NonblockingWait>,
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
