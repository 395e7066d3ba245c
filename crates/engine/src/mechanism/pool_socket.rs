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

use super::refusal::refused;
use crate::channel::{OptionSpec, OptionValues, Setup};
use crate::clock::now_ns;

/// Number of slots in each direction. They are reused in stack order, so calls, of which one is in flight at
/// a time, always use the same slot.
pub(super) const PLACES: usize = 8;

/// Returns the number of slots, or memfds, in both directions.
pub(super) fn held(_: &Setup<'_>) -> u64 {
    2 * PLACES as u64
}

/// Option of both mechanisms that adds metadata to the length of each message.
pub(super) const METADATA: OptionSpec = OptionSpec {
    name: "metadata",
    about: "what the receiver is told of each message: when it was sent, and by whom",
    values: OptionValues::OneOf(&["none", "timestamp", "credentials", "both"]),
    default: "none",
};

/// Meaning of a notice on the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
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
    pub(super) news: News,
    /// Length of the message.
    pub(super) bytes: usize,
    /// Number of the receiver's own messages that its peer has given back since the last notice.
    freed: usize,
    /// Time at which it was sent, or 0 without timestamps.
    sent_ns: u64,
}

/// Size of a notice, bytes: meaning, slot, length, number of freed slots, time.
const NOTICE: usize = 40;

impl Notice {
    fn encode(self) -> [u8; NOTICE] {
        let (news, place) = match self.news {
            News::Message(place) => (0, place),
            News::Returned(place) => (1, place),
            News::Freed => (2, 0),
        };
        let words = [news, place as u64, self.bytes as u64, self.freed as u64, self.sent_ns];
        let mut notice = [0; NOTICE];
        for (bytes, word) in notice.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        notice
    }

    fn decode(notice: [u8; NOTICE]) -> Option<Self> {
        let word =
            |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| notice[8 * at + byte]));
        let number = |at| usize::try_from(word(at)).ok();
        let place = number(1).filter(|&place| place < PLACES)?;
        let news = match word(0) {
            0 => News::Message(place),
            1 => News::Returned(place),
            2 => News::Freed,
            _ => return None,
        };
        Some(Self { news, bytes: number(2)?, freed: number(3)?, sent_ns: word(4) })
    }
}

/// One end of the socket.
#[derive(Debug)]
pub(super) struct Line {
    socket: OwnedFd,
    /// Whether answers report freed slots; a stream needs separate notices for that.
    is_answered: bool,
    tells_time: bool,
    tells_sender: bool,
    /// Slots given back that have not been reported to the peer.
    freed: usize,
    pub(super) calls: u64,
}

/// A notice received from the socket, with its descriptor.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) notice: Notice,
    pub(super) descriptor: Option<OwnedFd>,
}

/// Creates two connected ends.
pub(super) fn lines(setup: &Setup<'_>) -> Result<[Line; 2], Failure> {
    let (one, other) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(|errno| refused("socketpair(AF_UNIX)", errno))?;
    let metadata = setup.option(&METADATA);
    let line = |socket: OwnedFd| {
        let tells_sender = matches!(metadata, "credentials" | "both");
        set_socket_passcred(&socket, tells_sender)
            .map_err(|errno| refused("setsockopt(SO_PASSCRED)", errno))?;
        Ok(Line {
            socket,
            is_answered: setup.workload.is_answered(),
            tells_time: matches!(metadata, "timestamp" | "both"),
            tells_sender,
            freed: 0,
            calls: 0,
        })
    };
    Ok([line(one)?, line(other)?])
}

impl Line {
    /// Announces a message of `bytes` bytes, with the descriptor of its memfd if it has one.
    #[inline]
    pub(super) fn tell(
        &mut self,
        news: News,
        bytes: usize,
        descriptor: Option<BorrowedFd<'_>>,
    ) -> Result<(), Errno> {
        let sent_ns = if self.tells_time { now_ns() } else { 0 };
        let notice = Notice { news, bytes, freed: self.freed, sent_ns }.encode();
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
    pub(super) fn hear(&mut self) -> Result<Option<Heard>, Errno> {
        let mut notice = [0; NOTICE];
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
        let is_told =
            sender.is_some() == self.tells_sender && (notice.sent_ns > 0) == self.tells_time;
        if is_told { Ok(Some(Heard { notice, descriptor })) } else { Err(Errno::BADMSG) }
    }

    /// Gives one of the peer's messages back. A stream reports this to the peer once half of the slots are
    /// free; otherwise the answer reports it.
    pub(super) fn give_back(&mut self) -> Result<(), Errno> {
        self.freed += 1;
        if self.is_answered || self.freed < PLACES / 2 {
            return Ok(());
        }
        self.tell(News::Freed, 0, None)
    }
}

/// Free slots of an endpoint.
#[derive(Debug)]
pub(super) struct Places {
    free: Vec<usize>,
    /// Slots that hold messages, in the order in which they will be given back.
    out: VecDeque<usize>,
}

impl Places {
    pub(super) fn all_free() -> Self {
        Self { free: (0..PLACES).collect(), out: VecDeque::with_capacity(PLACES) }
    }

    /// Returns a free slot; waits for a notice on `line` if there is none.
    #[inline]
    pub(super) fn find(&mut self, line: &mut Line) -> Result<usize, Errno> {
        loop {
            if let Some(place) = self.free.pop() {
                return Ok(place);
            }
            let heard = line.hear()?.ok_or(Errno::PIPE)?;
            if heard.notice.news != News::Freed {
                return Err(Errno::BADMSG);
            }
            self.note(heard.notice);
        }
    }

    /// Records that the message in `place` was sent.
    #[inline]
    pub(super) fn sent(&mut self, place: usize) {
        self.out.push_back(place);
    }

    /// Frees the slots that `notice` reports as given back.
    #[inline]
    pub(super) fn note(&mut self, notice: Notice) {
        for _ in 0..notice.freed {
            self.free.extend(self.out.pop_front());
        }
    }

    /// Waits on `line` until a message is announced; `None` once the peer is gone.
    #[inline]
    pub(super) fn next_message(&mut self, line: &mut Line) -> Result<Option<Heard>, Errno> {
        while let Some(heard) = line.hear()? {
            self.note(heard.notice);
            if heard.notice.news != News::Freed {
                return Ok(Some(heard));
            }
        }
        Ok(None)
    }
}

/// Returns the size of a slot for messages of this setup: whole pages.
pub(super) fn place_bytes(setup: &Setup<'_>) -> usize {
    let bytes = usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 2);
    bytes.max(1).next_multiple_of(rustix::param::page_size())
}

impl AsFd for Line {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_read_as_it_was_written() {
        for news in [News::Message(PLACES - 1), News::Returned(3), News::Freed] {
            let notice = Notice { news, bytes: 1 << 40, freed: 4, sent_ns: u64::MAX };
            assert_eq!(Notice::decode(notice.encode()), Some(notice));
        }
        let mut outside = Notice { news: News::Freed, bytes: 0, freed: 0, sent_ns: 0 }.encode();
        outside[8] = u8::try_from(PLACES).unwrap();
        assert_eq!(Notice::decode(outside), None);
        assert_eq!(Notice::decode([255; NOTICE]), None);
    }

    #[test]
    fn the_place_that_was_given_back_last_is_used_next() {
        let mut places = Places::all_free();
        let freed = |freed| Notice { news: News::Freed, bytes: 0, freed, sent_ns: 0 };
        let taken: Vec<usize> = (0..3).filter_map(|_| places.free.pop()).collect();
        taken.iter().for_each(|&place| places.sent(place));
        places.note(freed(2));
        assert_eq!(places.free.pop(), Some(taken[1]));
        places.note(freed(9));
        assert_eq!(places.free.len(), PLACES - 1, "what is not out cannot come back");
    }
}
