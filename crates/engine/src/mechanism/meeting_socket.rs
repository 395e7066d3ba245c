//! Sockets of two programs: one listens, the other one connects and names the secret of the run. With datagrams, both name
//! it.
//!
//! Every local process may connect to a port, and every process of a user to this user's sockets, so the accepted
//! connection need not be the peer's. One of another user or without the secret is closed, and the next one is awaited.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use ipcperf_model::{Failure, FailureKind, Role};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio, read, write};
use rustix::net::addr::SocketAddrArg;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketType, bind, connect, listen, recv,
    send,
};
use rustix::process::geteuid;

use super::setup_failure::setup_failure;
use crate::channel::{Meeting, Visitors};
use crate::platform::close_on_exec::{SocketFlags, accept_with, socket_with};
use crate::platform::socket_options::peer_uid;

/// Length requested for the queue; the system grants at most `net.core.somaxconn`.
const BACKLOG: i32 = 128;
/// Maximum time that a connection may take to name the secret.
const INTRODUCTION: Duration = Duration::from_secs(1);

/// Predicate that decides whether a connection may be that of the peer, before it has named the secret.
pub(super) type IsAdmitted = fn(accepted: &OwnedFd, visitors: Visitors) -> bool;

/// Admits every connection: the kernel does not know the user at the other end of a TCP connection.
pub(super) fn any_user(_: &OwnedFd, _: Visitors) -> bool {
    true
}

/// Admits connections of this user, unless other users are expected: for Unix domain sockets.
pub(super) fn expected_user(accepted: &OwnedFd, visitors: Visitors) -> bool {
    visitors == Visitors::AnyUser || peer_uid(accepted) == Ok(geteuid().as_raw())
}

/// Waits for the peer to connect to `listener`, which is bound to `address`, and returns its blocking connection.
pub(super) fn accept_peer(
    listener: &OwnedFd,
    address: &str,
    is_admitted: IsAdmitted,
    meeting: &Meeting<'_>,
) -> Result<OwnedFd, Failure> {
    listen(listener, BACKLOG).map_err(|e| setup_failure("listen", e))?;
    ioctl_fionbio(listener, true).map_err(|e| setup_failure("ioctl(FIONBIO)", e))?;
    loop {
        let what = format!("accepting a connection to {address}");
        let is_early = |errno| matches!(errno, Errno::AGAIN | Errno::INTR | Errno::CONNABORTED);
        let accepted =
            meeting.retry(&what, is_early, || accept_with(listener, SocketFlags::CLOEXEC))?;
        ioctl_fionbio(&accepted, true).map_err(|e| setup_failure("ioctl(FIONBIO)", e))?;
        if is_admitted(&accepted, meeting.visitors()) && knows_secret(&accepted, meeting) {
            ioctl_fionbio(&accepted, false).map_err(|e| setup_failure("ioctl(FIONBIO)", e))?;
            return Ok(accepted);
        }
    }
}

/// Whether the other end names the secret soon. Nothing after it is read.
fn knows_secret(accepted: &OwnedFd, meeting: &Meeting<'_>) -> bool {
    let expected = meeting.secret().into_bytes();
    let (mut named, mut count) = (vec![0; expected.len()], 0);
    let end = Instant::now() + INTRODUCTION.min(meeting.remaining());
    while count < named.len() {
        let left = Timespec::try_from(end.saturating_duration_since(Instant::now())).ok();
        let mut readable = [PollFd::new(accepted, PollFlags::IN)];
        match poll(&mut readable, left.as_ref()) {
            Err(Errno::INTR) => continue,
            Ok(1..) => {}
            _ => return false,
        }
        match read(accepted, &mut named[count..]) {
            Ok(0) => return false,
            Ok(more) => count += more,
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return false,
        }
    }
    named == expected
}

/// Connects a socket that `make` creates to `address`, once the peer listens there, and names the secret.
pub(super) fn connect_to_peer(
    make: impl Fn() -> Result<OwnedFd, Failure>,
    address: &impl SocketAddrArg,
    shown: &str,
    meeting: &Meeting<'_>,
) -> Result<OwnedFd, Failure> {
    let socket = make()?;
    let is_early =
        |errno| matches!(errno, Errno::NOENT | Errno::CONNREFUSED | Errno::AGAIN | Errno::INTR);
    meeting.retry(&format!("connecting to {shown}"), is_early, || connect(&socket, address))?;
    let secret = meeting.secret().into_bytes();
    match write(&socket, &secret) {
        Ok(written) if written == secret.len() => Ok(socket),
        Ok(_) => Err(Failure::new(FailureKind::SetUp, "naming the secret")),
        Err(errno) => Err(setup_failure("naming the secret", errno)),
    }
}

/// Connects the two peers by Unix domain sockets of `kind`, at the path of `name`: the receiver listens there.
pub(super) fn meet_at_path(
    kind: SocketType,
    name: &str,
    meeting: &Meeting<'_>,
) -> Result<OwnedFd, Failure> {
    let path = meeting.socket_path(name);
    let (address, shown) = (path_address(&path)?, path.display().to_string());
    match meeting.role() {
        Role::Receiver => {
            let listener = new_socket(kind)?;
            bind(&listener, &address).map_err(|e| setup_failure("bind", e))?;
            accept_peer(&listener, &shown, expected_user, meeting)
        }
        _ => connect_to_peer(|| new_socket(kind), &address, &shown, meeting),
    }
}

/// Returns the address of a Unix domain socket at `path`.
pub(super) fn path_address(path: &Path) -> Result<SocketAddrUnix, Failure> {
    SocketAddrUnix::new(path).map_err(|_| {
        Failure::new(FailureKind::SetUp, "the socket's path exceeds 107 bytes")
            .with_remedy("set TMPDIR to a shorter path")
    })
}

/// Creates a Unix domain socket.
pub(super) fn new_socket(kind: SocketType) -> Result<OwnedFd, Failure> {
    socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)
        .map_err(|e| setup_failure("socket(AF_UNIX)", e))
}

/// Exchanges the secret with the peer at `address`, to which the datagram socket `socket` is connected: a datagram reaches a
/// socket that is bound, even before it is connected.
pub(super) fn exchange_secrets(
    socket: &OwnedFd,
    address: &str,
    meeting: &Meeting<'_>,
) -> Result<(), Failure> {
    let secret = meeting.secret().into_bytes();
    // Datagrams of others may fill the queue of a Unix domain socket until its owner has connected it.
    let is_full = |errno| matches!(errno, Errno::AGAIN | Errno::INTR | Errno::NOBUFS);
    let sends = || send(socket, &secret, SendFlags::DONTWAIT);
    meeting.retry(&format!("sending to {address}"), is_full, sends)?;
    let mut named = vec![0; secret.len()];
    let is_early = |errno| matches!(errno, Errno::AGAIN | Errno::INTR);
    let receives = || match recv(socket, &mut named[..], RecvFlags::DONTWAIT)? {
        (bytes, _) if named[..bytes] == secret => Ok(()),
        _ => Err(Errno::AGAIN),
    };
    meeting.retry(&format!("waiting for a datagram from {address}"), is_early, receives)
}

/// Discards the datagrams that `socket` has received: those of others, from before it was connected.
pub(super) fn discard_received(socket: &OwnedFd) {
    while recv(socket, &mut [0_u8; 1][..], RecvFlags::DONTWAIT).is_ok() {}
}
