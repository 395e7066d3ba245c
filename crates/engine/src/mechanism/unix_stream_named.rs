//! `unix-stream-named`: a Unix domain stream socket that is connected to by name.

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketType, accept_with, bind, connect, listen, socket_with,
};
use rustix::process::getpid;

use super::descriptor::refused;
use super::socket::{SocketEnd, flags, joined};
use super::sysv::outcome;
use super::{
    Boundaries, Channel, Delivery, Documentation, Helper, Mechanism, Opened, OptionSpec,
    OptionValues, PayloadFate, PayloadWay, PeerDeath, Scratch, Setup, Unrelated,
};
use crate::names::of_run;
use crate::{Failure, FailureKind, Mode, worker};

/// What `unix-stream-named` is.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "unix-stream-named",
    about: "Unix domain stream socket, bound to a name and connected to",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::Told,
    unrelated: Unrelated::Yes,
    helper: Helper::Nobody,
    options: &[OptionSpec {
        name: "address",
        about: "a path in the file system, or a name in the abstract namespace",
        values: OptionValues::OneOf(&["path", "abstract"]),
        default: "path",
    }],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "bind, listen, connect and accept instead of socketpair: how unrelated \
            processes meet. Once connected, data takes the way of unix-stream. The connection is \
            made before the clock starts, and the name is gone by then.",
        message_boundaries: "None, as with unix-stream.",
        minimum_kernel: "Any; abstract names are Linux's own (2.2).",
        defaults_that_matter: "As with unix-stream. A path is guarded by the permissions of its \
            folder; an abstract name by the network namespace alone: connections that other \
            processes make to it are closed.",
        references: &["man:unix(7)", "man:bind(2)", "man:connect(2)"],
    },
    availability: || Ok(()),
    limit: |_| None,
    holds: |_| 0,
    library: None,
    execute: worker::execute::<UnixStreamNamed>,
};

/// Connections that may wait: strangers' take no place from ours.
const WAITING: i32 = 64;

struct UnixStreamNamed;

impl Channel for UnixStreamNamed {
    type End = SocketEnd<false>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        if setup.option("address", "path") == "abstract" {
            let name = of_run()?.base();
            let address = SocketAddrUnix::new_abstract_name(name.as_bytes());
            return meet(&address.map_err(|e| refused("naming the socket", e))?, setup);
        }
        let scratch = Scratch::new()?;
        let address = SocketAddrUnix::new(scratch.path("socket")).map_err(|_| {
            Failure::new(FailureKind::SetUp, "the socket's path exceeds 107 bytes")
                .with_remedy("set TMPDIR to a shorter path")
        })?;
        meet(&address, setup)
    }
}

fn meet(address: &SocketAddrUnix, setup: &Setup<'_>) -> Result<Opened<SocketEnd<false>>, Failure> {
    let make = || {
        socket_with(AddressFamily::UNIX, SocketType::STREAM, flags(setup), None)
            .map_err(|e| refused("socket(AF_UNIX)", e))
    };
    let (listener, sender) = (make()?, make()?);
    bind(&listener, address).map_err(|e| refused("bind", e))?;
    listen(&listener, WAITING).map_err(|e| refused("listen", e))?;
    connect(&sender, address).map_err(|e| refused("connect", e))?;
    let receiver = accept_own(&listener, setup)?;
    joined(sender, receiver, setup)
}

/// Accepts connections until one comes from this process. Whoever reads `/proc/net/unix` in time can connect to
/// an abstract name too.
fn accept_own(listener: &OwnedFd, setup: &Setup<'_>) -> Result<OwnedFd, Failure> {
    loop {
        let accepted = accept_with(listener, flags(setup)).map_err(|e| refused("accept", e))?;
        if peer_process(&accepted).map_err(|e| refused("getsockopt(SO_PEERCRED)", e))?
            == own_process()
        {
            return Ok(accepted);
        }
    }
}

fn own_process() -> libc::pid_t {
    getpid().as_raw_nonzero().get()
}

/// The process that connected; 0 where it is in a PID namespace that is not seen from here.
fn peer_process(socket: &OwnedFd) -> Result<libc::pid_t, Errno> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = libc::socklen_t::try_from(size_of::<libc::ucred>()).unwrap_or_default();
    // SAFETY: the pointers are to a whole ucred, and to its length.
    let answer = unsafe {
        let into = (&raw mut peer).cast();
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            into,
            &raw mut length,
        )
    };
    outcome(answer)?;
    Ok(peer.pid)
}
