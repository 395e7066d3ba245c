//! Datagrams that carry descriptors (`SCM_RIGHTS`).

use std::fs::File;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, IntoRawFd, OwnedFd};

use ipcperf_model::{Failure, FailureKind};
use rustix::cmsg_space;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use super::setup_failure::setup_failure;
use super::shared_options::{FDS, MAX_EXTRA_FDS};
use super::socket::flags;
use crate::channel::Setup;

/// Those and the descriptor of the payload.
const MAX_FDS: usize = MAX_EXTRA_FDS + 1;

/// Opens the additional descriptors for each message: `/dev/null`, opened once per descriptor.
pub(super) fn open_extra_fds(setup: &Setup<'_>) -> Result<Vec<OwnedFd>, Failure> {
    let open = || File::open("/dev/null").map(OwnedFd::from);
    (0..extra_fd_count(setup)).map(|_| open()).collect::<Result<_, _>>().map_err(|error| Failure {
        errno: error.raw_os_error(),
        ..Failure::new(FailureKind::SetUp, "opening /dev/null")
    })
}

/// Returns the number of additional descriptors.
pub(super) fn extra_fd_count(setup: &Setup<'_>) -> u64 {
    setup.number(&FDS).unwrap_or_default()
}

/// Creates two connected datagram sockets.
pub(super) fn datagram_pair(setup: &Setup<'_>) -> Result<(OwnedFd, OwnedFd), Failure> {
    socketpair(AddressFamily::UNIX, SocketType::DGRAM, flags(setup), None)
        .map_err(|errno| setup_failure("socketpair(AF_UNIX)", errno))
}

/// Sends `bytes` as one datagram that carries `descriptors`, with one system call.
#[inline]
pub(super) fn send_with(
    socket: &OwnedFd,
    bytes: &[u8],
    descriptors: &[OwnedFd],
) -> Result<usize, Errno> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let borrowed = borrowed(descriptors);
    if !borrowed.is_empty() && !control.push(SendAncillaryMessage::ScmRights(borrowed)) {
        return Err(Errno::INVAL);
    }
    sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)
}

fn borrowed(descriptors: &[OwnedFd]) -> &[BorrowedFd<'_>] {
    let (start, count) = (descriptors.as_ptr().cast(), descriptors.len());
    // SAFETY: both types are documented to have the representation of a raw descriptor, and the borrowed ones
    // live no longer than the borrow of their owners.
    unsafe { std::slice::from_raw_parts(start, count) }
}

/// A received datagram.
pub(super) struct ReceivedDatagram {
    /// Length of its data, bytes.
    pub(super) bytes: usize,
    /// Number of descriptors that it carried.
    pub(super) descriptors: u64,
    /// The last of those descriptors.
    pub(super) last: Option<OwnedFd>,
}

impl ReceivedDatagram {
    /// Returns the datagram unless descriptors are missing: the kernel silently drops those for which the
    /// receiver's table has no room.
    #[inline]
    pub(super) fn require_descriptors(self, descriptors: usize) -> Result<Self, Errno> {
        let end_of_file = self.bytes == 0 && self.descriptors == 0;
        let complete = self.descriptors == descriptors as u64;
        if complete || end_of_file { Ok(self) } else { Err(Errno::MFILE) }
    }
}

/// Closes `descriptor` with one system call; dropping it makes two in debug builds.
#[inline]
pub(super) fn close(descriptor: OwnedFd) {
    // SAFETY: it was owned, and is not used again.
    unsafe { rustix::io::close(descriptor.into_raw_fd()) };
}

/// Receives one datagram into `bytes`: one system call, plus one to close each descriptor that it carried
/// except the last.
#[inline]
pub(super) fn recv_with(socket: &OwnedFd, bytes: &mut [u8]) -> Result<ReceivedDatagram, Errno> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let wanted = &mut [IoSliceMut::new(bytes)];
    let got = recvmsg(socket, wanted, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let (mut descriptors, mut last) = (0, None);
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(carried) = message {
            for descriptor in carried {
                descriptors += 1;
                if let Some(before) = last.replace(descriptor) {
                    close(before);
                }
            }
        }
    }
    Ok(ReceivedDatagram { bytes: got.bytes, descriptors, last })
}
