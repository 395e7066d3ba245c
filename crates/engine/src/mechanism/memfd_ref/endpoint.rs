//! Implementation of `memfd-ref`.

use std::os::fd::{AsFd, OwnedFd};
use std::slice::from_ref;

use ipcperf_model::Failure;
use rustix::io::{Errno, pread, read, write};
use rustix::net::{AddressFamily, SocketType, socketpair};

use super::{MAP, MEMFD};
use crate::channel::{Channel, Descriptors, Endpoint, Granted, Mechanism, Opened, Setup};
use crate::mechanism::mapping::{Access, Mapping};
use crate::mechanism::memfd::{self, MappedMemfd};
use crate::mechanism::scm_rights::{close, datagram_pair, recv_with, send_with};
use crate::mechanism::setup_failure::setup_failure;
use crate::mechanism::socket::flags;
use crate::platform::memory::shared_memory_available;
use crate::platform::sysctl::read_sysctl;
use crate::worker;

/// The part of `memfd-ref` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: shared_memory_available,
    in_flight_messages,
    execute: worker::execute::<MemfdRef>,
    ..Mechanism::BASE
};

/// Number of memfds reused in turn: fewer than a datagram queue holds messages.
const MEMFDS: usize = 4;

/// Size of a datagram, bytes: the length of the message and the number of its memfd.
const HEADER_BYTES: usize = 16;

/// Minimum number of bytes of `SO_SNDBUF` that the kernel charges for a datagram.
const MIN_CHARGED_BYTES: u64 = 768;

struct MemfdRef;

impl Channel for MemfdRef {
    type End = MemfdRefEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<MemfdRefEnd>, Failure> {
        let (sender, receiver) = datagram_pair(setup)?;
        let (acks_in, acks_out) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, flags(setup), None)
                .map_err(|errno| setup_failure("socketpair(AF_UNIX)", errno))?;
        // A stream sends nothing back, so that direction needs no memfds.
        let reply = if setup.workload.is_answered() {
            MemfdSource::from_setup(setup)?
        } else {
            MemfdSource::Fresh
        };
        Ok(Opened {
            sender: MemfdRefEnd::new(sender, acks_in, MemfdSource::from_setup(setup)?, setup),
            receiver: MemfdRefEnd::new(receiver, acks_out, reply, setup),
            granted: Granted::default(),
        })
    }
}

/// Source of the memfds for messages.
#[derive(Debug)]
enum MemfdSource {
    /// A new memfd for each message.
    Fresh,
    /// These memfds in turn.
    Reused(ReusedMemfds),
}

/// The memfds of a sender that reuses them.
#[derive(Debug)]
struct ReusedMemfds {
    memfds: Vec<MappedMemfd>,
    /// Index of the next memfd.
    next: usize,
    /// Number of messages not yet acknowledged by the receiver; acknowledgements come in order.
    in_flight: usize,
}

impl MemfdSource {
    fn from_setup(setup: &Setup<'_>) -> Result<Self, Failure> {
        if setup.option(&MEMFD) == "fresh" {
            return Ok(Self::Fresh);
        }
        let memfds = memfd::create_reusable(MEMFDS, message_bytes(setup))?;
        Ok(Self::Reused(ReusedMemfds { memfds, next: 0, in_flight: 0 }))
    }
}

/// Returns the number of reused memfds in both directions. With fresh memfds: one message being sent and one
/// being received, and in a stream also as many as fit into `SO_SNDBUF`. (`net.unix.max_dgram_qlen` does not
/// apply to two sockets that are connected to each other.)
fn in_flight_messages(setup: &Setup<'_>) -> u64 {
    match setup.option(&MEMFD) {
        "reused" => 2 * MEMFDS as u64,
        _ if setup.workload.is_answered() => 2,
        _ => 2 + read_sysctl("net/core/wmem_default", 212_992).div_ceil(MIN_CHARGED_BYTES),
    }
}

fn message_bytes(setup: &Setup<'_>) -> usize {
    usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 2)
}

/// Method by which the receiver reads the payload.
#[derive(Debug)]
enum ReadMethod {
    Map,
    Read,
    /// Mappings of the memfds seen so far, indexed by number.
    Cached([Option<Mapping>; MEMFDS]),
}

impl ReadMethod {
    fn from_setup(setup: &Setup<'_>) -> Self {
        match (setup.option(&MAP), setup.option(&MEMFD)) {
            ("read", _) => Self::Read,
            ("each", _) | (_, "fresh") => Self::Map,
            _ => Self::Cached([const { None }; MEMFDS]),
        }
    }
}

#[derive(Debug)]
struct MemfdRefEnd {
    socket: OwnedFd,
    /// Stream socket that carries one byte for each message that its receiver has finished with.
    acknowledgements: OwnedFd,
    acknowledges: bool,
    source: MemfdSource,
    read_method: ReadMethod,
    /// A fresh memfd for which the socket had no room.
    pending: Option<[OwnedFd; 1]>,
    message_bytes: usize,
    calls: u64,
}

impl MemfdRefEnd {
    fn new(socket: OwnedFd, acks: OwnedFd, supply: MemfdSource, setup: &Setup<'_>) -> Self {
        Self {
            socket,
            acknowledgements: acks,
            acknowledges: setup.option(&MEMFD) == "reused",
            source: supply,
            read_method: ReadMethod::from_setup(setup),
            pending: None,
            message_bytes: message_bytes(setup),
            calls: 0,
        }
    }

    fn send_fresh(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        let memfd = match self.pending.take() {
            Some(memfd) => memfd,
            None => [memfd::create_sealed(bytes, &mut self.calls)?],
        };
        self.calls += 1;
        if let Err(errno) = send_with(&self.socket, &encode_header(bytes.len(), 0), &memfd) {
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
        let mapped = |bytes| Mapping::new(memfd, bytes, Access::Read);
        match &mut self.read_method {
            ReadMethod::Read => {
                self.calls += 1;
                let got = pread(memfd, &mut *bytes, 0)?;
                if got == bytes.len() { Ok(()) } else { Err(Errno::BADMSG) }
            }
            ReadMethod::Map => {
                // `mmap`, and `munmap` when the mapping goes out of scope.
                self.calls += 2;
                mapped(bytes.len())?.copy_out(0, bytes);
                Ok(())
            }
            ReadMethod::Cached(kept) => {
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

fn encode_header(bytes: usize, number: usize) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(&(bytes as u64).to_le_bytes());
    header[8..].copy_from_slice(&(number as u64).to_le_bytes());
    header
}

/// Parses the two numbers in `encode_header`.
fn decode_header(header: [u8; HEADER_BYTES]) -> Option<(usize, usize)> {
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| header[at + byte]));
    Some((usize::try_from(number(0)).ok()?, usize::try_from(number(8)).ok()?))
}

impl ReusedMemfds {
    /// Counts the acknowledgements that have arrived; waits for one only when all memfds are in use.
    fn wait_free(&mut self, acknowledgements: &OwnedFd, calls: &mut u64) -> Result<(), Errno> {
        if self.in_flight < MEMFDS {
            return Ok(());
        }
        *calls += 1;
        match read(acknowledgements, &mut [0_u8; MEMFDS][..])? {
            0 => Err(Errno::PIPE),
            done => {
                self.in_flight -= done;
                Ok(())
            }
        }
    }
}

impl Endpoint for MemfdRefEnd {
    const KEEPS_BOUNDARIES: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        match &self.source {
            MemfdSource::Fresh => Ok(()),
            MemfdSource::Reused(memfds) => {
                memfds.memfds.iter().try_for_each(|memfd| memfd.mapping.populate())
            }
        }
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        let MemfdSource::Reused(memfds) = &mut self.source else { return self.send_fresh(bytes) };
        memfds.wait_free(&self.acknowledgements, &mut self.calls)?;
        let memfd = &memfds.memfds[memfds.next];
        memfd.mapping.copy_in(0, bytes);
        self.calls += 1;
        send_with(&self.socket, &encode_header(bytes.len(), memfds.next), from_ref(&memfd.file))?;
        memfds.next = (memfds.next + 1) % MEMFDS;
        memfds.in_flight += 1;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let mut header = [0; HEADER_BYTES];
        self.calls += 1;
        let arrived = recv_with(&self.socket, &mut header)?.require_descriptors(1)?;
        let Some(memfd) = arrived.last else { return Ok(0) };
        let (length, number) = decode_header(header).ok_or(Errno::BADMSG)?;
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
