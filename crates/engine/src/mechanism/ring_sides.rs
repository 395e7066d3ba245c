//! Passes two sides of rings from the program that created them to the other one.

use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::Failure;
use ipcperf_ring::RemoteSide;
use rustix::io::Errno;

use super::meeting_fds;
use super::setup_failure::setup_failure;
use crate::channel::Meeting;

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
    let fds = sides.each_ref().map(|side| [side.memory.as_fd(), side.lifeline.as_fd()]);
    meeting_fds::pass(SOCKET, meeting, mark, fds.as_flattened())
}

/// Receives the mark and the sides that the other program passes.
pub(super) fn receive(meeting: &Meeting<'_>) -> Result<(u8, [RemoteSide; 2]), Failure> {
    let (mark, fds) = meeting_fds::receive(SOCKET, meeting)?;
    let [memory, lifeline, other_memory, other_lifeline] =
        <[OwnedFd; FDS]>::try_from(fds).map_err(|_| setup_failure("recvmsg", Errno::BADMSG))?;
    let other = RemoteSide { memory: other_memory, lifeline: other_lifeline };
    Ok((mark, [RemoteSide { memory, lifeline }, other]))
}
