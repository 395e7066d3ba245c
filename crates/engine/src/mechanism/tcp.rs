//! `tcp`: a TCP connection over the loopback interface.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_reuseaddr, set_tcp_nodelay};
use rustix::net::{
    AddressFamily, Protocol, SocketFlags, SocketType, accept_with, bind, connect, getsockname,
    listen, socket_with,
};

use super::descriptor::refused;
use super::socket::{SocketEnd, joined, set_buffers};
use super::{
    Blocking, Boundaries, Channel, Delivery, Documentation, Helper, Mechanism, Opened, OptionSpec,
    OptionValues, PayloadFate, PayloadWay, PeerDeath, Setup, Unavailable, Unrelated,
};
use crate::{Failure, Mode, worker};

/// What `tcp` is.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "tcp",
    about: "TCP over the loopback interface",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::Told,
    unrelated: Unrelated::Yes,
    helper: Helper::KernelThread("ksoftirqd"),
    options: &[
        OptionSpec {
            name: "nodelay",
            about: "TCP_NODELAY: send small writes at once (on) or gather them (off)",
            values: OptionValues::OneOf(&["on", "off"]),
            default: "on",
        },
        OptionSpec {
            name: "port",
            about: "the port that is listened on: one that is free (any), or this one",
            values: OptionValues::Number(1..=65_535),
            default: "any",
        },
    ],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "The whole network stack without a network: segments of up to 64 KiB are \
            queued, acknowledged and handed to the receiving socket, mostly in the sender's own \
            system call.",
        message_boundaries: "None: a read returns what has arrived, up to what it asked for.",
        minimum_kernel: "Any.",
        defaults_that_matter: "NODELAY is on here and off in the system. Buffers grow by \
            themselves (net.ipv4.tcp_wmem, tcp_rmem) until one is asked for, which fixes it. They are \
            asked for before the connection is made: a small one set later stalls on segments it \
            has no room for.",
        references: &["man:tcp(7)", "man:ip(7)", "man:socket(7)"],
    },
    availability: || available(SocketType::STREAM),
    limit: |_| None,
    holds: |_| 0,
    library: None,
    execute: worker::execute::<Tcp>,
};

/// Whether a socket can be bound to the loopback address.
pub(super) fn available(kind: SocketType) -> Result<(), Unavailable> {
    loopback(kind, SocketFlags::CLOEXEC, None, ANY_PORT).map(drop).map_err(|errno| Unavailable {
        reason: format!("no socket on 127.0.0.1: {errno}"),
        remedy: "bring the loopback interface up: ip link set lo up".to_owned(),
    })
}

/// The system chooses one that is free.
pub(super) const ANY_PORT: u16 = 0;

/// A socket bound to `port` of the loopback address. One that was named may just have been in use by a
/// connection that still lingers.
pub(super) fn loopback(
    kind: SocketType,
    flags: SocketFlags,
    protocol: Option<Protocol>,
    port: u16,
) -> Result<OwnedFd, Errno> {
    let socket = socket_with(AddressFamily::INET, kind, flags, protocol)?;
    if port != ANY_PORT {
        set_socket_reuseaddr(&socket, true)?;
    }
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
    Ok(socket)
}

struct Tcp;

impl Channel for Tcp {
    type End = SocketEnd<false>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        let (sender, receiver) = connected(setup, None)?;
        joined(sender, receiver, setup)
    }
}

/// Both ends of a connection. Buffers are asked for before it is made: the segment size and the
/// window are settled then, and a small buffer set later stalls on segments it has no room for.
pub(super) fn connected(
    setup: &Setup<'_>,
    protocol: Option<Protocol>,
) -> Result<(OwnedFd, OwnedFd), Failure> {
    let failed = |e| refused("connecting on 127.0.0.1", e);
    let (stream, flags) = (SocketType::STREAM, SocketFlags::CLOEXEC);
    let port = setup.number("port").and_then(|port| port.try_into().ok()).unwrap_or(ANY_PORT);
    let listener = loopback(stream, flags, protocol, port).map_err(failed)?;
    let sender = socket_with(AddressFamily::INET, stream, flags, protocol).map_err(failed)?;
    for socket in [&listener, &sender] {
        set_buffers(socket, setup)?;
    }
    let meet = || {
        listen(&listener, 1)?;
        connect(&sender, &getsockname(&listener)?)?;
        accept_with(&listener, flags)
    };
    let receiver = meet().map_err(failed)?;
    for socket in [&sender, &receiver] {
        set_tcp_nodelay(socket, setup.option("nodelay", "on") == "on")
            .map_err(|e| refused("TCP_NODELAY", e))?;
        rustix::io::ioctl_fionbio(socket, setup.blocking == Blocking::Try)
            .map_err(|e| refused("ioctl(FIONBIO)", e))?;
    }
    Ok((sender, receiver))
}
