//! `memfd-ref`: the payload in a memfd, whose descriptor is sent in a datagram.

use std::os::fd::{AsFd, OwnedFd};
use std::slice::from_ref;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::io::{Errno, pread, read, write};
use rustix::net::{AddressFamily, SocketType, socketpair};

use super::mapping::{Access, Mapping};
use super::memfd::{self, Filled};
use super::refusal::refused;
use super::scm_rights::{close, datagram_pair, recv_with, send_with};
use super::shm_ring::available;
use super::socket::flags;
use crate::channel::{
    Channel, Descriptors, Documentation, Endpoint, Granted, Mechanism, Opened, OptionSpec,
    OptionValues, Setup,
};
use crate::worker;

/// Option that selects new or reused memfds.
const MEMFD: OptionSpec = OptionSpec {
    name: "memfd",
    about: "a new memfd for each message, or four in turn that are acknowledged",
    values: OptionValues::OneOf(&["fresh", "reused"]),
    default: "reused",
};

/// Option that selects how the receiver accesses a memfd.
const MAP: OptionSpec = OptionSpec {
    name: "map",
    about: "how the receiver gets at it: a mapping each time, one that is kept, or pread",
    values: OptionValues::OneOf(&["each", "cached", "read"]),
    default: "cached",
};

/// Facts about `memfd-ref`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "memfd-ref",
    about: "payload in a sealed memfd, its descriptor sent in a datagram; copies in and out",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::SenderTold,
    unrelated: Unrelated::No("descriptors are inherited or passed on"),
    helper: Helper::Nobody,
    options: &[MEMFD, MAP],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "The message is copied into a memfd; a datagram of 16 bytes says how long it is \
            and carries the descriptor; the receiver copies it out and closes the descriptor, so \
            that every byte is its own. memfd=fresh: memfd_create, write, seal against any change, \
            sendmsg, close. memfd=reused: the sender keeps four mapped and takes them in turn; the \
            receiver acknowledges each message with one byte on a second socket, and the sender \
            reads what has gathered there when all four are out. The receiver calls recvmsg, close, \
            and mmap and munmap (map=each), pread (map=read) or neither (map=cached, which knows a \
            memfd by the number the sender gave it; a fresh one it has to map each time).",
        message_boundaries: "Kept: one datagram, one memfd, one message.",
        minimum_kernel: "Linux 3.17 (memfd_create); 5.1 for the seal against future writing.",
        defaults_that_matter: "A reused memfd is sealed with F_SEAL_SHRINK, GROW and FUTURE_WRITE: \
            the receiver can neither be surprised by a shorter file (SIGBUS) nor write to it. It \
            can still see it change, for the sender's own mapping, made before, stays writable: a \
            weaker promise than kdbus gave, whose seal stopped the sender too, and the reason why \
            the receiver copies. --kernel-buffer does not apply.",
        references: &["man:memfd_create(2)", "man:fcntl(2), F_ADD_SEALS", "man:unix(7)"],
    },
    availability: available,
    holds: held,
    execute: worker::execute::<MemfdRef>,
    ..Mechanism::BASE
};

/// Number of memfds reused in turn: fewer than a datagram queue holds messages.
const TURNS: usize = 4;
/// Size of a datagram, bytes: the length of the message and the number of its memfd.
const HEADER: usize = 16;

struct MemfdRef;

impl Channel for MemfdRef {
    type End = MemfdEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<MemfdEnd>, Failure> {
        let (sender, receiver) = datagram_pair(setup)?;
        let (acks_in, acks_out) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, flags(setup), None)
                .map_err(|errno| refused("socketpair(AF_UNIX)", errno))?;
        // A stream sends nothing back, so that direction needs no memfds.
        let reply = if setup.workload.is_answered() { Supply::of(setup)? } else { Supply::Fresh };
        Ok(Opened {
            sender: MemfdEnd::new(sender, acks_in, Supply::of(setup)?, setup),
            receiver: MemfdEnd::new(receiver, acks_out, reply, setup),
            granted: Granted::default(),
        })
    }
}

/// Source of the memfds for messages.
#[derive(Debug)]
enum Supply {
    /// A new memfd for each message.
    Fresh,
    /// These memfds in turn.
    Reused(Turns),
}

/// The memfds of a sender that reuses them.
#[derive(Debug)]
struct Turns {
    memfds: Vec<Filled>,
    /// Index of the next memfd.
    next: usize,
    /// Number of messages not yet acknowledged by the receiver; acknowledgements come in order.
    out: usize,
}

impl Supply {
    fn of(setup: &Setup<'_>) -> Result<Self, Failure> {
        if setup.option(&MEMFD) == "fresh" {
            return Ok(Self::Fresh);
        }
        let memfds = memfd::lasting(TURNS, message_bytes(setup))?;
        Ok(Self::Reused(Turns { memfds, next: 0, out: 0 }))
    }
}

/// Returns the number of reused memfds in both directions, or else the capacity of a datagram queue (sysctl
/// `net.unix.max_dgram_qlen`, 10 by default) plus the messages being sent and received.
fn held(setup: &Setup<'_>) -> u64 {
    if setup.option(&MEMFD) == "reused" { 2 * TURNS as u64 } else { 12 }
}

fn message_bytes(setup: &Setup<'_>) -> usize {
    usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 2)
}

/// Method by which the receiver reads the payload.
#[derive(Debug)]
enum Reach {
    Map,
    Read,
    /// Mappings of the memfds seen so far, indexed by number.
    Cached([Option<Mapping>; TURNS]),
}

impl Reach {
    fn of(setup: &Setup<'_>) -> Self {
        match (setup.option(&MAP), setup.option(&MEMFD)) {
            ("read", _) => Self::Read,
            ("each", _) | (_, "fresh") => Self::Map,
            _ => Self::Cached([const { None }; TURNS]),
        }
    }
}

#[derive(Debug)]
struct MemfdEnd {
    socket: OwnedFd,
    /// Stream socket that carries one byte for each message that its receiver has finished with.
    acknowledgements: OwnedFd,
    acknowledges: bool,
    supply: Supply,
    reach: Reach,
    /// A fresh memfd for which the socket had no room.
    pending: Option<[OwnedFd; 1]>,
    message_bytes: usize,
    calls: u64,
}

impl MemfdEnd {
    fn new(socket: OwnedFd, acks: OwnedFd, supply: Supply, setup: &Setup<'_>) -> Self {
        Self {
            socket,
            acknowledgements: acks,
            acknowledges: setup.option(&MEMFD) == "reused",
            supply,
            reach: Reach::of(setup),
            pending: None,
            message_bytes: message_bytes(setup),
            calls: 0,
        }
    }

    fn send_fresh(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        let memfd = match self.pending.take() {
            Some(memfd) => memfd,
            None => [memfd::sealed(bytes, &mut self.calls)?],
        };
        self.calls += 1;
        if let Err(errno) = send_with(&self.socket, &header(bytes.len(), 0), &memfd) {
            self.pending = Some(memfd);
            return Err(errno);
        }
        self.calls += 1;
        let [memfd] = memfd;
        close(memfd);
        Ok(bytes.len())
    }

    /// Fills `bytes` from `memfd`, which the sender numbers `number`.
    fn fetch(&mut self, memfd: &OwnedFd, number: usize, bytes: &mut [u8]) -> Result<(), Errno> {
        let mapped = |bytes| Mapping::of(memfd, bytes, Access::Read);
        match &mut self.reach {
            Reach::Read => {
                self.calls += 1;
                let got = pread(memfd, &mut *bytes, 0)?;
                if got == bytes.len() { Ok(()) } else { Err(Errno::BADMSG) }
            }
            Reach::Map => {
                // `mmap`, and `munmap` when the mapping goes out of scope.
                self.calls += 2;
                mapped(bytes.len())?.copy_out(0, bytes);
                Ok(())
            }
            Reach::Cached(kept) => {
                let kept = kept.get_mut(number).ok_or(Errno::BADMSG)?;
                if kept.is_none() {
                    self.calls += 1;
                    *kept = Some(mapped(self.message_bytes)?);
                }
                kept.as_ref().ok_or(Errno::BADMSG)?.copy_out(0, bytes);
                Ok(())
            }
        }
    }
}

fn header(bytes: usize, number: usize) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&(bytes as u64).to_le_bytes());
    header[8..].copy_from_slice(&(number as u64).to_le_bytes());
    header
}

/// Parses the two numbers in `header`.
fn parsed(header: [u8; HEADER]) -> Option<(usize, usize)> {
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| header[at + byte]));
    Some((usize::try_from(number(0)).ok()?, usize::try_from(number(8)).ok()?))
}

impl Turns {
    /// Counts the acknowledgements that have arrived; waits for one only when all memfds are in use.
    fn make_free(&mut self, acknowledgements: &OwnedFd, calls: &mut u64) -> Result<(), Errno> {
        if self.out < TURNS {
            return Ok(());
        }
        *calls += 1;
        match read(acknowledgements, &mut [0_u8; TURNS][..])? {
            0 => Err(Errno::PIPE),
            done => {
                self.out -= done;
                Ok(())
            }
        }
    }
}

impl Endpoint for MemfdEnd {
    const KEEPS_BOUNDARIES: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        match &self.supply {
            Supply::Fresh => Ok(()),
            Supply::Reused(turns) => {
                turns.memfds.iter().try_for_each(|memfd| memfd.mapping.populate())
            }
        }
    }

    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        let Supply::Reused(turns) = &mut self.supply else { return self.send_fresh(bytes) };
        turns.make_free(&self.acknowledgements, &mut self.calls)?;
        let memfd = &turns.memfds[turns.next];
        memfd.mapping.copy_in(0, bytes);
        self.calls += 1;
        send_with(&self.socket, &header(bytes.len(), turns.next), from_ref(&memfd.file))?;
        turns.next = (turns.next + 1) % TURNS;
        turns.out += 1;
        Ok(bytes.len())
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let mut header = [0; HEADER];
        self.calls += 1;
        let arrived = recv_with(&self.socket, &mut header)?.whole(1)?;
        let Some(memfd) = arrived.last else { return Ok(0) };
        let (length, number) = parsed(header).ok_or(Errno::BADMSG)?;
        let into = bytes.get_mut(..length).ok_or(Errno::MSGSIZE)?;
        self.fetch(&memfd, number, into)?;
        close(memfd);
        self.calls += 1;
        if self.acknowledges {
            self.calls += 1;
            write(&self.acknowledgements, &[1])?;
        }
        Ok(length)
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.calls))
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        Some(Descriptors { read: self.socket.as_fd(), write: self.socket.as_fd() })
    }
}
