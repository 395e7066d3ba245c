//! `bus-memfd`: passes a sealed memfd through a socket; the receiver maps it and reads it in place.

use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::io::Errno;

use super::mapping::{Access, Mapping};
use super::memfd::{self, Filled};
use super::pool_socket::{self, Line, METADATA, News, PLACES, Places, lines, place_bytes};
use super::scm_rights::close;
use super::shm_ring::available;
use crate::channel::{
    Channel, Documentation, Endpoint, Granted, Mechanism, Opened, OptionSpec, OptionValues, Setup,
};
use crate::worker;

/// Option that selects new or reused memfds.
const MEMFD: OptionSpec = OptionSpec {
    name: "memfd",
    about: "a new memfd for each message, or eight that are used again",
    values: OptionValues::OneOf(&["fresh", "reused"]),
    default: "reused",
};

/// Option that selects how the receiver accesses a memfd.
const MAP: OptionSpec = OptionSpec {
    name: "map",
    about: "the receiver maps each message anew, or keeps its mappings of reused memfds",
    values: OptionValues::OneOf(&["each", "cached"]),
    default: "each",
};

/// Facts about `bus-memfd`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "bus-memfd",
    about: "as kdbus passed memfds: a sealed memfd is handed over and read where it is mapped",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::RungMemory,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::HandedOver,
    peer_death: PeerDeath::Told,
    unrelated: Unrelated::No("descriptors are inherited or passed on"),
    helper: Helper::Nobody,
    options: &[MEMFD, MAP, METADATA],
    modes: &[Mode::TwoThreads, Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "What kdbus did with messages in memfds, without its module: the sender composes \
            the message in a memfd it has mapped and passes the descriptor with a notice of 40 bytes \
            through a Unix domain sequenced-packet socket. The receiver maps it, reads it where it \
            lies, unmaps and closes it, and gives it back as in bus-copy. Nothing is copied: where \
            nobody touches the payload, a message costs the same whatever its size. memfd=fresh: \
            memfd_create, ftruncate, mmap, the payload, munmap, a seal against any change, sendmsg, \
            close. memfd=reused: sendmsg alone. An echo passes the same memfd back.",
        message_boundaries: "Kept: one notice, one memfd, one message.",
        minimum_kernel: "Linux 3.17 (memfd_create); 5.1 for the seal against future writing.",
        defaults_that_matter: "A reused memfd is sealed with F_SEAL_SHRINK, GROW and FUTURE_WRITE: the \
            receiver cannot write to it, but the sender's own mapping, made before, stays writable: a \
            weaker promise than kdbus gave, whose seal stopped the sender too. Pages of a mapping made \
            anew (map=each) are had by faults as the receiver reads them; with map=cached it knows a \
            memfd by the number its sender gave it, and a fresh one is mapped anew all the same. Payload \
            is handed over in place, so bandwidth means something only with --touch both. \
            --kernel-buffer does not apply.",
        references: &[
            "man:memfd_create(2)",
            "man:fcntl(2), F_ADD_SEALS",
            "man:unix(7)",
            "the documentation of kdbus: kdbus.message(7)",
        ],
    },
    availability: available,
    holds: pool_socket::held,
    execute: worker::execute::<BusMemfd>,
    ..Mechanism::BASE
};

struct BusMemfd;

impl Channel for BusMemfd {
    type End = MemfdEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<MemfdEnd>, Failure> {
        let [senders, receivers] = lines(setup)?;
        let (mut there, mut back) = (Vec::new(), Vec::new());
        if setup.option(&MEMFD) == "reused" {
            there = memfd::lasting(PLACES, place_bytes(setup))?;
            if setup.workload.is_answered() {
                back = memfd::lasting(PLACES, place_bytes(setup))?;
            }
        }
        Ok(Opened {
            sender: MemfdEnd::new(senders, there, setup),
            receiver: MemfdEnd::new(receivers, back, setup),
            granted: Granted::default(),
        })
    }
}

/// System calls that a message in a fresh memfd costs before it is sent: `memfd_create`, `ftruncate`,
/// `F_ADD_SEALS`, `mmap`, then `munmap` and `F_ADD_SEALS`.
const FRESH_CALLS: u64 = 6;

/// A message that was taken.
#[derive(Debug)]
struct Taken {
    file: OwnedFd,
    /// Number that the sender gave the memfd.
    number: usize,
    bytes: usize,
    lies: Lies,
    sender: Sender,
}

/// Memory in which a taken message lies.
#[derive(Debug)]
enum Lies {
    /// A mapping made for this message.
    Anew(Mapping),
    /// A cached mapping of the peer's memfd.
    Kept,
    /// Our own memfd, which the peer sent back.
    Own,
}

/// Side that composed a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    Peer,
    /// This side: the peer has sent the message back.
    Ourselves,
}

#[derive(Debug)]
struct MemfdEnd {
    line: Line,
    places: Places,
    /// Our memfds; empty with `memfd=fresh`.
    own: Vec<Filled>,
    /// The memfd being filled, with `memfd=fresh`.
    fresh: Option<Filled>,
    /// Slot and length of the message being composed.
    loan: (usize, usize),
    /// Cached mappings of the peer's memfds, indexed by number.
    theirs: [Option<Mapping>; PLACES],
    is_kept: bool,
    is_reused: bool,
    taken: Option<Taken>,
    place_bytes: usize,
}

impl MemfdEnd {
    fn new(line: Line, own: Vec<Filled>, setup: &Setup<'_>) -> Self {
        let is_reused = setup.option(&MEMFD) == "reused";
        Self {
            line,
            places: Places::all_free(),
            own,
            fresh: None,
            loan: (0, 0),
            theirs: [const { None }; PLACES],
            is_kept: is_reused && setup.option(&MAP) == "cached",
            is_reused,
            taken: None,
            place_bytes: place_bytes(setup),
        }
    }

    fn send_fresh(&mut self, fresh: Filled, place: usize, bytes: usize) -> Result<(), Errno> {
        let file = fresh.sealed()?;
        self.line.calls += FRESH_CALLS + 1;
        let told = self.line.tell(News::Message(place), bytes, Some(file.as_fd()));
        close(file);
        told
    }

    /// Maps `bytes` bytes of `file`, the memfd that the sender numbers `number`.
    fn map(&mut self, file: &OwnedFd, number: usize, bytes: usize) -> Result<Lies, Errno> {
        if !self.is_kept {
            self.line.calls += 1;
            return Mapping::of(file, bytes, Access::ReadLater).map(Lies::Anew);
        }
        if self.theirs[number].is_none() {
            self.line.calls += 1;
            self.theirs[number] = Some(Mapping::of(file, self.place_bytes, Access::Read)?);
        }
        Ok(Lies::Kept)
    }

    /// Unmaps the message taken last and returns what remains of it.
    fn let_go(&mut self) -> Result<Taken, Errno> {
        let mut taken = self.taken.take().ok_or(Errno::INVAL)?;
        if let Lies::Anew(mapping) = std::mem::replace(&mut taken.lies, Lies::Kept) {
            self.line.calls += 1;
            drop(mapping);
        }
        Ok(taken)
    }
}

impl Endpoint for MemfdEnd {
    const KEEPS_BOUNDARIES: bool = true;
    const SENDS_IN_PLACE: bool = true;
    const RECEIVES_IN_PLACE: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        self.own.iter().try_for_each(|memfd| memfd.mapping.populate())
    }

    fn loan(&mut self, bytes: usize) -> Result<(), Errno> {
        let place = self.places.find(&mut self.line)?;
        if !self.is_reused {
            self.fresh = Some(Filled::new(bytes)?);
        }
        self.loan = (place, bytes);
        Ok(())
    }

    #[inline]
    fn loaned(&mut self) -> &mut [u8] {
        let (place, bytes) = self.loan;
        let memfd = self.fresh.as_mut().or_else(|| self.own.get_mut(place));
        // SAFETY: the peer has no descriptor of a fresh memfd yet, and has given a reused one back or never
        // had it. Once the message is announced, `bytes` is 0.
        memfd.map_or(&mut [], |memfd| unsafe { memfd.mapping.borrow_mut(0, bytes) })
    }

    fn send_loan(&mut self) -> Result<(), Errno> {
        // From here on the peer may read the memfd, so the loan ends.
        let (place, bytes) = std::mem::take(&mut self.loan);
        match self.fresh.take() {
            Some(fresh) => self.send_fresh(fresh, place, bytes)?,
            None => {
                let file = self.own[place].file.as_fd();
                self.line.tell(News::Message(place), bytes, Some(file))?;
            }
        }
        self.places.sent(place);
        Ok(())
    }

    fn take(&mut self) -> Result<usize, Errno> {
        let Some(heard) = self.places.next_message(&mut self.line)? else { return Ok(0) };
        let (file, bytes) = (heard.descriptor.ok_or(Errno::MFILE)?, heard.notice.bytes);
        if bytes == 0 || bytes > self.place_bytes {
            return Err(Errno::BADMSG);
        }
        let (number, lies, sender) = match heard.notice.news {
            News::Message(number) => (number, self.map(&file, number, bytes)?, Sender::Peer),
            News::Returned(number) if self.is_reused => (number, Lies::Own, Sender::Ourselves),
            // A fresh memfd was unmapped when it was sealed.
            News::Returned(number) => (number, self.map(&file, number, bytes)?, Sender::Ourselves),
            News::Freed => return Err(Errno::BADMSG),
        };
        self.taken = Some(Taken { file, number, bytes, lies, sender });
        Ok(bytes)
    }

    #[inline]
    fn taken(&self) -> &[u8] {
        let Some(Taken { number, bytes, lies, .. }) = &self.taken else { return &[] };
        let mapping = match lies {
            Lies::Anew(mapping) => Some(mapping),
            Lies::Kept => self.theirs[*number].as_ref(),
            Lies::Own => self.own.get(*number).map(|memfd| &memfd.mapping),
        };
        // SAFETY: we may read the memfd until `release` or `send_taken` reports it to its sender, and both
        // give up the message first. A memfd of ours that came back is not lent again before that.
        mapping.map_or(&[], |mapping| unsafe { mapping.borrow(0, *bytes) })
    }

    fn release(&mut self) -> Result<(), Errno> {
        let taken = self.let_go()?;
        self.line.calls += 1;
        close(taken.file);
        match taken.sender {
            Sender::Peer => self.line.give_back(),
            Sender::Ourselves => Ok(()),
        }
    }

    fn send_taken(&mut self) -> Result<(), Errno> {
        let Taken { file, number, bytes, .. } = self.let_go()?;
        self.line.give_back()?;
        self.line.tell(News::Returned(number), bytes, Some(file.as_fd()))?;
        self.line.calls += 1;
        close(file);
        Ok(())
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.line.calls))
    }
}
