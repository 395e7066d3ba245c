//! Passes two sides of rings from the program that created them to the other one.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::Failure;
use ipcperf_ring::RemoteSide;
use rustix::cmsg_space;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketType, bind, recvmsg, sendmsg,
};

use super::meeting_socket::{accept_peer, connect_to_peer, expected_user};
use super::setup_failure::setup_failure;
use crate::channel::Meeting;
use crate::platform::close_on_exec::{RECEIVED, SocketFlags, socket_with};

/// Number of descriptors: two for each side.
const FDS: usize = 4;
/// Name of the socket at the meeting.
const SOCKET: &str = "ring";

/// Waits for the other program, and passes `sides` and `mark`, to it.
pub(super) fn pass(
    meeting: &Meeting<'_>,
    mark: u8,
    sides: &[RemoteSide; 2],
) -> Result<(), Failure> {
    let (address, shown) = address(meeting)?;
    let listener = make()?;
    bind(&listener, &address).map_err(|e| setup_failure("bind", e))?;
    let socket = accept_peer(&listener, &shown, expected_user, meeting)?;
    let fds = sides.each_ref().map(|side| [side.memory.as_fd(), side.lifeline.as_fd()]);
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FDS))];
    let mut passed = SendAncillaryBuffer::new(&mut space);
    if !passed.push(SendAncillaryMessage::ScmRights(fds.as_flattened())) {
        return Err(setup_failure("sendmsg", Errno::INVAL));
    }
    let mark = [mark];
    // Rust programs ignore SIGPIPE; macOS has no flag for it.
    retry_on_intr(|| sendmsg(&socket, &[IoSlice::new(&mark)], &mut passed, SendFlags::empty()))
        .map_err(|e| setup_failure("sendmsg", e))?;
    Ok(())
}

/// Receives the mark and the sides that the other program passes.
pub(super) fn receive(meeting: &Meeting<'_>) -> Result<(u8, [RemoteSide; 2]), Failure> {
    let (address, shown) = address(meeting)?;
    let socket = connect_to_peer(make, &address, &shown, meeting)?;
    let (mut mark, mut fds) = ([0], Vec::new());
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FDS))];
    let mut passed = RecvAncillaryBuffer::new(&mut space);
    let into = &mut [IoSliceMut::new(&mut mark)];
    retry_on_intr(|| recvmsg(&socket, into, &mut passed, RECEIVED))
        .map_err(|e| setup_failure("recvmsg", e))?;
    for message in passed.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            fds.extend(received);
        }
    }
    let [memory, lifeline, other_memory, other_lifeline] =
        <[OwnedFd; FDS]>::try_from(fds).map_err(|_| setup_failure("recvmsg", Errno::BADMSG))?;
    let other = RemoteSide { memory: other_memory, lifeline: other_lifeline };
    Ok((mark[0], [RemoteSide { memory, lifeline }, other]))
}

fn address(meeting: &Meeting<'_>) -> Result<(SocketAddrUnix, String), Failure> {
    let path = meeting.socket_path(SOCKET);
    let shown = path.display().to_string();
    let address = SocketAddrUnix::new(&path).map_err(|e| {
        setup_failure("naming the socket", e).with_remedy("set TMPDIR to a shorter path")
    })?;
    Ok((address, shown))
}

fn make() -> Result<OwnedFd, Failure> {
    socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
        .map_err(|e| setup_failure("socket(AF_UNIX)", e))
}
