//! Passes descriptors from the program that opened them to the other one.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

use ipcperf_model::Failure;
use rustix::cmsg_space;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketType, recvmsg, sendmsg,
};

use super::meeting_socket::meet_at_path;
use super::setup_failure::setup_failure;
use crate::channel::Meeting;
use crate::platform::close_on_exec::RECEIVED;

/// Maximum number of descriptors passed at once.
const MAX_FDS: usize = 8;

/// Waits for the other program at the socket `name`, and passes `fds` and `mark` to it.
pub(super) fn pass(
    name: &str,
    meeting: &Meeting<'_>,
    mark: u8,
    fds: &[BorrowedFd<'_>],
) -> Result<(), Failure> {
    let socket = meet_at_path(SocketType::STREAM, name, meeting)?;
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_FDS))];
    let mut passed = SendAncillaryBuffer::new(&mut space);
    if !passed.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(setup_failure("sendmsg", Errno::INVAL));
    }
    let mark = [mark];
    // Rust programs ignore SIGPIPE; macOS has no flag for it.
    retry_on_intr(|| sendmsg(&socket, &[IoSlice::new(&mark)], &mut passed, SendFlags::empty()))
        .map_err(|e| setup_failure("sendmsg", e))?;
    Ok(())
}

/// Receives the mark and the descriptors that the other program passes at the socket `name`.
pub(super) fn receive(name: &str, meeting: &Meeting<'_>) -> Result<(u8, Vec<OwnedFd>), Failure> {
    let socket = meet_at_path(SocketType::STREAM, name, meeting)?;
    let (mut mark, mut fds) = ([0], Vec::new());
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_FDS))];
    let mut passed = RecvAncillaryBuffer::new(&mut space);
    let into = &mut [IoSliceMut::new(&mut mark)];
    retry_on_intr(|| recvmsg(&socket, into, &mut passed, RECEIVED))
        .map_err(|e| setup_failure("recvmsg", e))?;
    for message in passed.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            fds.extend(received);
        }
    }
    Ok((mark[0], fds))
}
