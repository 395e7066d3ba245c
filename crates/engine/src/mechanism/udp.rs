//! `udp`: datagrams over the loopback interface.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SocketType, connect, getsockname, recv};

use super::descriptor::refused;
use super::socket::{flags, set_buffers};
use super::tcp::{ANY_PORT, available, loopback};
use super::{
    Boundaries, Channel, Delivery, Descriptors, Documentation, Endpoint, Granted, Helper, Limit,
    Mechanism, Opened, PayloadFate, PayloadWay, PeerDeath, Setup, Unrelated,
};
use crate::{Failure, Mode, worker};

/// What `udp` is.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "udp",
    about: "UDP over the loopback interface; loses what the receiver has no room for",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Lossy,
    way: PayloadWay::Kernel,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::SenderTold,
    unrelated: Unrelated::Yes,
    helper: Helper::KernelThread("ksoftirqd"),
    options: &[],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A datagram is handed to the receiving socket in the sender's own system \
            call, and dropped there when SO_RCVBUF is full: nothing slows the sender down. \
            Bandwidth counts what arrived, lost_messages what did not. A stream ends with empty \
            datagrams, repeated until the receiver has seen one, and its receiver reads the CPU's \
            time stamp counter after each message, since it cannot know which is the last.",
        message_boundaries: "Kept: one receive, one message. Above 65507 bytes IPv4 has no room.",
        minimum_kernel: "Any.",
        defaults_that_matter: "SO_RCVBUF is net.core.rmem_default (212992 bytes) and counts the \
            kernel's overhead, about 770 bytes for a small datagram.",
        references: &["man:udp(7)", "man:ip(7)", "man:socket(7)"],
    },
    availability: || available(SocketType::DGRAM),
    limit: |_| Some(Limit { bytes: 65_507, because: "UDP over IPv4 carries no more".to_owned() }),
    holds: |_| 0,
    library: None,
    execute: worker::execute::<Udp>,
};

struct Udp;

impl Channel for Udp {
    type End = UdpEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<UdpEnd>, Failure> {
        let (sender, receiver) = connected(setup).map_err(|e| refused("binding 127.0.0.1", e))?;
        set_buffers(&sender, setup)?;
        let granted_bytes = set_buffers(&receiver, setup)?.receive_bytes;
        Ok(Opened {
            sender: UdpEnd { socket: sender },
            receiver: UdpEnd { socket: receiver },
            granted: Granted { kernel_buffer_bytes: Some(granted_bytes) },
        })
    }
}

fn connected(setup: &Setup<'_>) -> Result<(OwnedFd, OwnedFd), Errno> {
    let sender = loopback(SocketType::DGRAM, flags(setup), None, ANY_PORT)?;
    let receiver = loopback(SocketType::DGRAM, flags(setup), None, ANY_PORT)?;
    connect(&sender, &getsockname(&receiver)?)?;
    connect(&receiver, &getsockname(&sender)?)?;
    Ok((sender, receiver))
}

#[derive(Debug)]
struct UdpEnd {
    socket: OwnedFd,
}

impl Endpoint for UdpEnd {
    const KEEPS_BOUNDARIES: bool = true;
    const LOSES: bool = true;

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        rustix::io::write(&self.socket, bytes)
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        rustix::io::read(&self.socket, bytes)
    }

    fn drain(&mut self) {
        while recv(&self.socket, &mut [0_u8; 1][..], RecvFlags::DONTWAIT).is_ok() {}
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        Some(Descriptors { read: self.socket.as_fd(), write: self.socket.as_fd() })
    }
}
