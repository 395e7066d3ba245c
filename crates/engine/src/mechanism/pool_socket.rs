//! Common part of `bus-copy` and `bus-memfd`: a socket that announces each message, and the slots that hold
//! messages until their receiver gives them back.

use std::collections::VecDeque;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use ipcperf_model::Failure;
use rustix::cmsg_space;
use rustix::io::Errno;
use rustix::net::sockopt::set_socket_passcred;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use super::setup_failure::setup_failure;
use super::shared_options::METADATA;
use crate::channel::Setup;
use crate::clock::now_ns;

/// Number of slots in each direction. They are reused in stack order, so calls, of which one is in flight at
/// a time, always use the same slot.
pub(super) const SLOTS: usize = 8;

/// Returns the number of slots, or memfds, in both directions.
pub(super) fn in_flight_messages(_: &Setup<'_>) -> u64 {
    2 * SLOTS as u64
}

/// Meaning of a notice on the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoticeKind {
    /// A message is in this slot of its sender.
    Message(usize),
    /// The message in this slot of the receiver comes back unchanged.
    Returned(usize),
    /// Slots are free again; there is no message.
    Freed,
}

/// One message on the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Notice {
    pub(super) kind: NoticeKind,
    /// Length of the message.
    pub(super) bytes: usize,
    /// Number of the receiver's own messages that its peer has given back since the last notice.
    freed: usize,
    /// Time at which it was sent, or 0 without timestamps.
    sent_ns: u64,
}

/// Size of a notice, bytes: meaning, slot, length, number of freed slots, time.
const NOTICE_BYTES: usize = 40;

impl Notice {
    fn encode(self) -> [u8; NOTICE_BYTES] {
        let (news, place) = match self.kind {
            NoticeKind::Message(place) => (0, place),
            NoticeKind::Returned(place) => (1, place),
            NoticeKind::Freed => (2, 0),
        };
        let words = [news, place as u64, self.bytes as u64, self.freed as u64, self.sent_ns];
        let mut notice = [0; NOTICE_BYTES];
        for (bytes, word) in notice.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        notice
    }

    fn decode(notice: [u8; NOTICE_BYTES]) -> Option<Self> {
        let word =
            |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| notice[8 * at + byte]));
        let number = |at| usize::try_from(word(at)).ok();
        let place = number(1).filter(|&place| place < SLOTS)?;
        let news = match word(0) {
            0 => NoticeKind::Message(place),
            1 => NoticeKind::Returned(place),
            2 => NoticeKind::Freed,
            _ => return None,
        };
        Some(Self { kind: news, bytes: number(2)?, freed: number(3)?, sent_ns: word(4) })
    }
}

/// One end of the socket.
#[derive(Debug)]
pub(super) struct NoticeSocket {
    socket: OwnedFd,
    /// Whether answers report freed slots; a stream needs separate notices for that.
    is_answered: bool,
    sends_timestamp: bool,
    sends_credentials: bool,
    /// Slots given back that have not been reported to the peer.
    freed: usize,
    pub(super) calls: u64,
}

/// A notice received from the socket, with its descriptor.
#[derive(Debug)]
pub(super) struct ReceivedNotice {
    pub(super) notice: Notice,
    pub(super) descriptor: Option<OwnedFd>,
}

/// Creates two connected ends.
pub(super) fn notice_sockets(setup: &Setup<'_>) -> Result<[NoticeSocket; 2], Failure> {
    let (one, other) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(|errno| setup_failure("socketpair(AF_UNIX)", errno))?;
    let metadata = setup.option(&METADATA);
    let line = |socket: OwnedFd| {
        let tells_sender = matches!(metadata, "credentials" | "both");
        set_socket_passcred(&socket, tells_sender)
            .map_err(|errno| setup_failure("setsockopt(SO_PASSCRED)", errno))?;
        Ok(NoticeSocket {
            socket,
            is_answered: setup.workload.is_answered(),
            sends_timestamp: matches!(metadata, "timestamp" | "both"),
            sends_credentials: tells_sender,
            freed: 0,
            calls: 0,
        })
    };
    Ok([line(one)?, line(other)?])
}

impl NoticeSocket {
    /// Announces a message of `bytes` bytes, with the descriptor of its memfd if it has one.
    #[inline]
    pub(super) fn send(
        &mut self,
        news: NoticeKind,
        bytes: usize,
        descriptor: Option<BorrowedFd<'_>>,
    ) -> Result<(), Errno> {
        let sent_ns = if self.sends_timestamp { now_ns() } else { 0 };
        let notice = Notice { kind: news, bytes, freed: self.freed, sent_ns }.encode();
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if let Some(descriptor) = &descriptor {
            control.push(SendAncillaryMessage::ScmRights(std::slice::from_ref(descriptor)));
        }
        // Retried here on EINTR, because the caller cannot repeat the steps that led here.
        loop {
            self.calls += 1;
            let notice = &[IoSlice::new(&notice)];
            match sendmsg(&self.socket, notice, &mut control, SendFlags::NOSIGNAL) {
                Err(Errno::INTR) => {}
                told => {
                    self.freed = 0;
                    return told.map(drop);
                }
            }
        }
    }

    /// Waits for the peer's next notice; `None` once the peer is gone.
    #[inline]
    pub(super) fn receive(&mut self) -> Result<Option<ReceivedNotice>, Errno> {
        let mut notice = [0; NOTICE_BYTES];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1), ScmCredentials(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let got = loop {
            self.calls += 1;
            let into = &mut [IoSliceMut::new(&mut notice)];
            match recvmsg(&self.socket, into, &mut control, RecvFlags::CMSG_CLOEXEC) {
                Err(Errno::INTR) => {}
                heard => break heard?,
            }
        };
        if got.bytes == 0 {
            return Ok(None);
        }
        let (mut descriptor, mut sender) = (None, None);
        for message in control.drain() {
            match message {
                RecvAncillaryMessage::ScmRights(carried) => descriptor = carried.last(),
                RecvAncillaryMessage::ScmCredentials(credentials) => sender = Some(credentials),
                _ => {}
            }
        }
        let notice = Notice::decode(notice).ok_or(Errno::BADMSG)?;
        let has_metadata = sender.is_some() == self.sends_credentials
            && (notice.sent_ns > 0) == self.sends_timestamp;
        if has_metadata {
            Ok(Some(ReceivedNotice { notice, descriptor }))
        } else {
            Err(Errno::BADMSG)
        }
    }

    /// Gives one of the peer's messages back. A stream reports this to the peer once half of the slots are
    /// free; otherwise the answer reports it.
    pub(super) fn return_slot(&mut self) -> Result<(), Errno> {
        self.freed += 1;
        if self.is_answered || self.freed < SLOTS / 2 {
            return Ok(());
        }
        self.send(NoticeKind::Freed, 0, None)
    }
}

/// Free slots of an endpoint.
#[derive(Debug)]
pub(super) struct FreeSlots {
    free: Vec<usize>,
    /// Slots that hold messages, in the order in which they will be given back.
    in_flight: VecDeque<usize>,
}

impl FreeSlots {
    pub(super) fn new() -> Self {
        Self { free: (0..SLOTS).collect(), in_flight: VecDeque::with_capacity(SLOTS) }
    }

    /// Returns a free slot; waits for a notice on `line` if there is none.
    #[inline]
    pub(super) fn acquire(&mut self, line: &mut NoticeSocket) -> Result<usize, Errno> {
        loop {
            if let Some(place) = self.free.pop() {
                return Ok(place);
            }
            let heard = line.receive()?.ok_or(Errno::PIPE)?;
            if heard.notice.kind != NoticeKind::Freed {
                return Err(Errno::BADMSG);
            }
            self.reclaim(heard.notice);
        }
    }

    /// Records that the message in `place` was sent.
    #[inline]
    pub(super) fn mark_in_flight(&mut self, place: usize) {
        self.in_flight.push_back(place);
    }

    /// Frees the slots that `notice` reports as given back.
    #[inline]
    pub(super) fn reclaim(&mut self, notice: Notice) {
        for _ in 0..notice.freed {
            self.free.extend(self.in_flight.pop_front());
        }
    }

    /// Waits on `line` until a message is announced; `None` once the peer is gone.
    #[inline]
    pub(super) fn next_message(
        &mut self,
        line: &mut NoticeSocket,
    ) -> Result<Option<ReceivedNotice>, Errno> {
        while let Some(heard) = line.receive()? {
            self.reclaim(heard.notice);
            if heard.notice.kind != NoticeKind::Freed {
                return Ok(Some(heard));
            }
        }
        Ok(None)
    }
}

/// Returns the size of a slot for messages of this setup: whole pages.
pub(super) fn slot_bytes(setup: &Setup<'_>) -> usize {
    let bytes = usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 2);
    bytes.max(1).next_multiple_of(rustix::param::page_size())
}

impl AsFd for NoticeSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_read_as_it_was_written() {
        for news in [NoticeKind::Message(SLOTS - 1), NoticeKind::Returned(3), NoticeKind::Freed] {
            let notice = Notice { kind: news, bytes: 1 << 40, freed: 4, sent_ns: u64::MAX };
            assert_eq!(Notice::decode(notice.encode()), Some(notice));
        }
        let mut outside =
            Notice { kind: NoticeKind::Freed, bytes: 0, freed: 0, sent_ns: 0 }.encode();
        outside[8] = u8::try_from(SLOTS).unwrap();
        assert_eq!(Notice::decode(outside), None);
        assert_eq!(Notice::decode([255; NOTICE_BYTES]), None);
    }

    #[test]
    fn the_place_that_was_given_back_last_is_used_next() {
        let mut places = FreeSlots::new();
        let freed = |freed| Notice { kind: NoticeKind::Freed, bytes: 0, freed, sent_ns: 0 };
        let taken: Vec<usize> = (0..3).filter_map(|_| places.free.pop()).collect();
        taken.iter().for_each(|&place| places.mark_in_flight(place));
        places.reclaim(freed(2));
        assert_eq!(places.free.pop(), Some(taken[1]));
        places.reclaim(freed(9));
        assert_eq!(places.free.len(), SLOTS - 1, "what is not out cannot come back");
    }
}
