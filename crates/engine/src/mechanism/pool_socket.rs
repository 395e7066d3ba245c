//! What `bus-copy` and `bus-memfd` have in common: a socket that tells of each message, and the places
//! that messages lie in until their receiver gives them back.

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

/// Places for messages in either direction. They are used again in the order of a stack: of calls, of
/// which one is on its way at a time, all lie in the same place.
pub(super) const PLACES: usize = 8;

/// Places of a pool, or memfds, in both directions.
pub(super) fn held(_: &Setup<'_>) -> u64 {
    2 * PLACES as u64
}

/// The option of both mechanisms that says what is told of each message beside its length.
pub(super) const METADATA: OptionSpec = OptionSpec {
    name: "metadata",
    about: "what the receiver is told of each message: when it was sent, and by whom",
    values: OptionValues::OneOf(&["none", "timestamp", "credentials", "both"]),
    default: "none",
};

/// What a message of the socket means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// A message lies in this place of its sender's.
    Message(usize),
    /// The message that lay in this place of the receiver's comes back as it was.
    Returned(usize),
    /// Nothing but places that are free again.
    Freed,
}

/// One message of the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Notice {
    pub(super) news: News,
    /// Length of the message.
    pub(super) bytes: usize,
    /// How many of the receiver's own messages its peer has given back since the last notice.
    freed: usize,
    /// When it was sent, where that is told; else 0.
    sent_ns: u64,
}

/// Bytes of a notice: what it is, place, length, places freed, time.
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
    /// Whether answers tell of places that are free again; a stream needs notices for that alone.
    is_answered: bool,
    tells_time: bool,
    tells_sender: bool,
    /// Places given back of which the peer has not been told.
    freed: usize,
    pub(super) calls: u64,
}

/// What has come out of the socket.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) notice: Notice,
    pub(super) descriptor: Option<OwnedFd>,
}

/// Two connected ends.
pub(super) fn lines(setup: &Setup<'_>) -> Result<[Line; 2], Failure> {
    let (one, other) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(|errno| refused("socketpair(AF_UNIX)", errno))?;
    let metadata = setup.option(METADATA.name, METADATA.default);
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
    /// Tells of a message of `bytes`, with the descriptor that leads to it, if one does.
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
        // Made again here: what an end has done by now it cannot do once more.
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

    /// Waits for what the peer tells; `None` when it is gone.
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

    /// One more of the peer's messages is given back. In a stream the peer is told of every half of
    /// the places; in a call the answer tells it.
    pub(super) fn give_back(&mut self) -> Result<(), Errno> {
        self.freed += 1;
        if self.is_answered || self.freed < PLACES / 2 {
            return Ok(());
        }
        self.tell(News::Freed, 0, None)
    }
}

/// Which places of an end are free.
#[derive(Debug)]
pub(super) struct Places {
    free: Vec<usize>,
    /// Those with messages, in the order in which they will be given back.
    out: VecDeque<usize>,
}

impl Places {
    pub(super) fn all_free() -> Self {
        Self { free: (0..PLACES).collect(), out: VecDeque::with_capacity(PLACES) }
    }

    /// A free place, for which `line` is listened to where there is none.
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

    /// A message was sent that lies in `place`.
    #[inline]
    pub(super) fn sent(&mut self, place: usize) {
        self.out.push_back(place);
    }

    /// Takes note of the places that `notice` says are free again.
    #[inline]
    pub(super) fn note(&mut self, notice: Notice) {
        for _ in 0..notice.freed {
            self.free.extend(self.out.pop_front());
        }
    }

    /// Listens to `line` until it tells of a message; `None` when the peer is gone.
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

/// Bytes of a place for messages of this set-up: whole pages.
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
