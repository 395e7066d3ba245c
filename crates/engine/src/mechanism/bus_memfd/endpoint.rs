//! Implementation of `bus-memfd`.

use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::Failure;
use rustix::io::Errno;

use super::{MAP, MEMFD};
use crate::channel::{Channel, Endpoint, Granted, Mechanism, Opened, Setup};
use crate::mechanism::mapping::{Access, Mapping};
use crate::mechanism::memfd::{self, MappedMemfd};
use crate::mechanism::pool_socket::{
    self, FreeSlots, NoticeKind, NoticeSocket, SLOTS, notice_sockets, slot_bytes,
};
use crate::mechanism::scm_rights::close;
use crate::platform::memory::shared_memory_available;
use crate::worker;

/// The part of `bus-memfd` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: shared_memory_available,
    in_flight_messages: pool_socket::in_flight_messages,
    execute: worker::execute::<BusMemfd>,
    ..Mechanism::BASE
};

struct BusMemfd;

impl Channel for BusMemfd {
    type End = BusMemfdEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<BusMemfdEnd>, Failure> {
        let [senders, receivers] = notice_sockets(setup)?;
        let (mut there, mut back) = (Vec::new(), Vec::new());
        if setup.option(&MEMFD) == "reused" {
            there = memfd::create_reusable(SLOTS, slot_bytes(setup))?;
            if setup.workload.is_answered() {
                back = memfd::create_reusable(SLOTS, slot_bytes(setup))?;
            }
        }
        Ok(Opened {
            sender: BusMemfdEnd::new(senders, there, setup),
            receiver: BusMemfdEnd::new(receivers, back, setup),
            granted: Granted::default(),
        })
    }
}

/// System calls that a message in a fresh memfd costs before it is sent: `memfd_create`, `ftruncate`,
/// `F_ADD_SEALS`, `mmap`, then `munmap` and `F_ADD_SEALS`.
const FRESH_CALLS: u64 = 6;

/// A message that was taken.
#[derive(Debug)]
struct TakenMessage {
    file: OwnedFd,
    /// Number that the sender gave the memfd.
    number: usize,
    bytes: usize,
    memory: TakenMemory,
    origin: Origin,
}

/// Memory in which a taken message lies.
#[derive(Debug)]
enum TakenMemory {
    /// A mapping made for this message.
    NewMapping(Mapping),
    /// A cached mapping of the peer's memfd.
    CachedMapping,
    /// Our own memfd, which the peer sent back.
    OwnMemfd,
}

/// Side that composed a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Peer,
    /// This side: the peer has sent the message back.
    ThisSide,
}

#[derive(Debug)]
struct BusMemfdEnd {
    socket: NoticeSocket,
    free_slots: FreeSlots,
    /// Our memfds; empty with `memfd=fresh`.
    own_memfds: Vec<MappedMemfd>,
    /// The memfd being filled, with `memfd=fresh`.
    fresh: Option<MappedMemfd>,
    /// Slot and length of the message being composed.
    loan: (usize, usize),
    /// Cached mappings of the peer's memfds, indexed by number.
    peer_mappings: [Option<Mapping>; SLOTS],
    caches_mappings: bool,
    reuses_memfds: bool,
    taken: Option<TakenMessage>,
    slot_bytes: usize,
}

impl BusMemfdEnd {
    fn new(line: NoticeSocket, own: Vec<MappedMemfd>, setup: &Setup<'_>) -> Self {
        let is_reused = setup.option(&MEMFD) == "reused";
        Self {
            socket: line,
            free_slots: FreeSlots::new(),
            own_memfds: own,
            fresh: None,
            loan: (0, 0),
            peer_mappings: [const { None }; SLOTS],
            caches_mappings: is_reused && setup.option(&MAP) == "cached",
            reuses_memfds: is_reused,
            taken: None,
            slot_bytes: slot_bytes(setup),
        }
    }

    fn send_fresh(&mut self, fresh: MappedMemfd, place: usize, bytes: usize) -> Result<(), Errno> {
        let file = fresh.into_sealed()?;
        self.socket.calls += FRESH_CALLS + 1;
        let sent = self.socket.send(NoticeKind::Message(place), bytes, Some(file.as_fd()));
        close(file);
        sent
    }

    /// Maps `bytes` bytes of `file`, the memfd that the sender numbers `number`.
    fn map(&mut self, file: &OwnedFd, number: usize, bytes: usize) -> Result<TakenMemory, Errno> {
        if !self.caches_mappings {
            self.socket.calls += 1;
            return Mapping::new(file, bytes, Access::ReadLazy).map(TakenMemory::NewMapping);
        }
        if self.peer_mappings[number].is_none() {
            self.socket.calls += 1;
            self.peer_mappings[number] = Some(Mapping::new(file, self.slot_bytes, Access::Read)?);
        }
        Ok(TakenMemory::CachedMapping)
    }

    /// Unmaps the message taken last and returns what remains of it.
    fn unmap_taken(&mut self) -> Result<TakenMessage, Errno> {
        let mut taken = self.taken.take().ok_or(Errno::INVAL)?;
        if let TakenMemory::NewMapping(mapping) =
            std::mem::replace(&mut taken.memory, TakenMemory::CachedMapping)
        {
            self.socket.calls += 1;
            drop(mapping);
        }
        Ok(taken)
    }
}

impl Endpoint for BusMemfdEnd {
    const KEEPS_BOUNDARIES: bool = true;
    const SENDS_IN_PLACE: bool = true;
    const RECEIVES_IN_PLACE: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        self.own_memfds.iter().try_for_each(|memfd| memfd.mapping.populate())
    }

    #[inline]
    fn loan(&mut self, bytes: usize) -> Result<(), Errno> {
        let place = self.free_slots.acquire(&mut self.socket)?;
        if !self.reuses_memfds {
            self.fresh = Some(MappedMemfd::new(bytes)?);
        }
        self.loan = (place, bytes);
        Ok(())
    }

    #[inline]
    fn loaned(&mut self) -> &mut [u8] {
        let (place, bytes) = self.loan;
        let memfd = self.fresh.as_mut().or_else(|| self.own_memfds.get_mut(place));
        // SAFETY: the peer has no descriptor of a fresh memfd yet, and has given a reused one back or never
        // had it. Once the message is announced, `bytes` is 0.
        memfd.map_or(&mut [], |memfd| unsafe { memfd.mapping.borrow_mut(0, bytes) })
    }

    #[inline]
    fn send_loan(&mut self) -> Result<(), Errno> {
        // From here on the peer may read the memfd, so the loan ends.
        let (place, bytes) = std::mem::take(&mut self.loan);
        match self.fresh.take() {
            Some(fresh) => self.send_fresh(fresh, place, bytes)?,
            None => {
                let file = self.own_memfds[place].file.as_fd();
                self.socket.send(NoticeKind::Message(place), bytes, Some(file))?;
            }
        }
        self.free_slots.mark_in_flight(place);
        Ok(())
    }

    #[inline]
    fn take(&mut self) -> Result<usize, Errno> {
        let Some(received) = self.free_slots.next_message(&mut self.socket)? else { return Ok(0) };
        let (file, bytes) = (received.descriptor.ok_or(Errno::MFILE)?, received.notice.bytes);
        if bytes == 0 || bytes > self.slot_bytes {
            return Err(Errno::BADMSG);
        }
        let (number, lies, sender) = match received.notice.kind {
            NoticeKind::Message(number) => (number, self.map(&file, number, bytes)?, Origin::Peer),
            NoticeKind::Returned(number) if self.reuses_memfds => {
                (number, TakenMemory::OwnMemfd, Origin::ThisSide)
            }
            // A fresh memfd was unmapped when it was sealed.
            NoticeKind::Returned(number) => {
                (number, self.map(&file, number, bytes)?, Origin::ThisSide)
            }
            NoticeKind::Freed => return Err(Errno::BADMSG),
        };
        self.taken = Some(TakenMessage { file, number, bytes, memory: lies, origin: sender });
        Ok(bytes)
    }

    #[inline]
    fn taken(&self) -> &[u8] {
        let Some(TakenMessage { number, bytes, memory: lies, .. }) = &self.taken else {
            return &[];
        };
        let mapping = match lies {
            TakenMemory::NewMapping(mapping) => Some(mapping),
            TakenMemory::CachedMapping => self.peer_mappings[*number].as_ref(),
            TakenMemory::OwnMemfd => self.own_memfds.get(*number).map(|memfd| &memfd.mapping),
        };
        // SAFETY: we may read the memfd until `release` or `send_taken` reports it to its sender, and both
        // give up the message first. A memfd of ours that came back is not lent again before that.
        mapping.map_or(&[], |mapping| unsafe { mapping.borrow(0, *bytes) })
    }

    #[inline]
    fn release(&mut self) -> Result<(), Errno> {
        let taken = self.unmap_taken()?;
        self.socket.calls += 1;
        close(taken.file);
        match taken.origin {
            Origin::Peer => self.socket.return_slot(),
            Origin::ThisSide => Ok(()),
        }
    }

    #[inline]
    fn send_taken(&mut self) -> Result<(), Errno> {
        let TakenMessage { file, number, bytes, .. } = self.unmap_taken()?;
        self.socket.return_slot()?;
        self.socket.send(NoticeKind::Returned(number), bytes, Some(file.as_fd()))?;
        self.socket.calls += 1;
        close(file);
        Ok(())
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.socket.calls))
    }
}
