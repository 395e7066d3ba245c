//! `tcp`: a TCP connection over the loopback interface.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::sockopt::set_tcp_nodelay;
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, accept_with, bind, connect, getsockname, listen,
    socket_with,
};

use super::descriptor::refused;
use super::socket::{SocketEnd, joined};
use super::{
    Blocking, Boundaries, Channel, Delivery, Documentation, Mechanism, Opened, OptionSpec,
    OptionValues, Setup, Unavailable,
};
use crate::{Failure, Mode, worker};

/// What `tcp` is.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "tcp",
    about: "TCP over the loopback interface",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    options: &[OptionSpec {
        name: "nodelay",
        about: "TCP_NODELAY: send small writes at once (on) or gather them (off)",
        values: OptionValues::OneOf(&["on", "off"]),
        default: "on",
    }],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "The whole network stack without a network: segments of up to 64 KiB are \
            queued, acknowledged and handed to the receiving socket, mostly in the sender's own \
            system call.",
        message_boundaries: "None: a read returns what has arrived, up to what it asked for.",
        minimum_kernel: "Any.",
        defaults_that_matter: "NODELAY is on here and off in the system. Buffers grow by \
            themselves (net.ipv4.tcp_wmem, tcp_rmem) until one is asked for, which fixes it. A receive \
            buffer below one loopback segment (64 KiB) makes the sender wait for the persist timer: \
            with 4096 bytes asked for, about 8 KiB go over every 150 ms.",
        references: &["man:tcp(7)", "man:ip(7)", "man:socket(7)"],
    },
    availability: || available(SocketType::STREAM),
    limit: |_| None,
    execute: worker::execute::<Tcp>,
};

/// Whether a socket can be bound to the loopback address.
pub(super) fn available(kind: SocketType) -> Result<(), Unavailable> {
    loopback(kind, SocketFlags::CLOEXEC).map(drop).map_err(|errno| Unavailable {
        reason: format!("no socket on 127.0.0.1: {errno}"),
        remedy: "bring the loopback interface up: ip link set lo up".to_owned(),
    })
}

/// A socket bound to a free port of the loopback address.
pub(super) fn loopback(kind: SocketType, flags: SocketFlags) -> Result<OwnedFd, Errno> {
    let socket = socket_with(AddressFamily::INET, kind, flags, None)?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
    Ok(socket)
}

struct Tcp;

impl Channel for Tcp {
    type End = SocketEnd<false>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        let (sender, receiver) = connected().map_err(|e| refused("connecting on 127.0.0.1", e))?;
        for socket in [&sender, &receiver] {
            set_tcp_nodelay(socket, setup.option("nodelay", "on") == "on")
                .map_err(|e| refused("TCP_NODELAY", e))?;
            rustix::io::ioctl_fionbio(socket, setup.blocking == Blocking::Try)
                .map_err(|e| refused("ioctl(FIONBIO)", e))?;
        }
        joined(sender, receiver, setup)
    }
}

fn connected() -> Result<(OwnedFd, OwnedFd), Errno> {
    let listener = loopback(SocketType::STREAM, SocketFlags::CLOEXEC)?;
    listen(&listener, 1)?;
    let sender = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    connect(&sender, &getsockname(&listener)?)?;
    Ok((sender, accept_with(&listener, SocketFlags::CLOEXEC)?))
}
