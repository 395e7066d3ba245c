//! The library iceoryx2: the common part of `iceoryx2-pubsub` and `iceoryx2-reqres`. Their [`Ports`] carry
//! the messages.
//!
//! The library keeps files and shared memory under names of its own choice, below the [`paths`] of the run.
//! Each peer makes its node and ports after the fork. The library has no blocking receive, so peers poll.

mod connect_order;
mod paths;
mod prefault;
mod service;
mod space;

use std::fmt::Debug;
use std::hint::spin_loop;
use std::marker::PhantomData;

use iceoryx2::port::{LoanError, SendError};
use iceoryx2::prelude::{Config, NodeBuilder, SignalHandlingMode};
use ipcperf_model::mechanism::{Library, PayloadFate};
use ipcperf_model::workload::Kind;
use ipcperf_model::{Failure, Mode, Report, RunSpec, Unavailable};
use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::thread::sched_yield;

use super::refusal::refused;
use crate::channel::{
    Channel, Endpoint, Granted, Limit, Mechanism, Nearness, Opened, OptionSpec, OptionValues, Setup,
};
use crate::leftovers::SHARED_MEMORY;
use crate::worker;
use connect_order::Turns;
pub(super) use service::OwnersService;

/// The library.
pub(super) const ICEORYX2: Library = Library {
    name: "iceoryx2",
    version: env!("VERSION_OF_ICEORYX2"),
    licence: "MIT OR Apache-2.0",
};

/// Option of both mechanisms that selects copying or in-place access.
pub(super) const API: OptionSpec = OptionSpec {
    name: "api",
    about: "copy to and from the library's memory, or write and read messages where they lie in it",
    values: OptionValues::OneOf(&["copy", IN_PLACE]),
    default: "copy",
};

const IN_PLACE: &str = "loan";

/// Fate of the payload, which the option decides.
pub(super) const FATE: PayloadFate =
    PayloadFate::Chosen { option: API.name, handed_over: IN_PLACE };

/// Reason why processes of different users cannot meet. A feature of the library, meant for its developers,
/// opens the files to all users.
pub(super) const OWNERS_ALONE: &str = "its files and its shared memory are their owner's alone";

/// Modes with two peers: a send blocks by itself if there is no room.
pub(super) const MODES: [Mode; 2] = [Mode::TwoThreads, Mode::TwoProcesses];

/// Maximum number of messages of a stream that wait for the receiver. With answers, one message waits.
pub(super) const STREAM_PLACES: usize = 8;

/// Upper bounds for what the library adds to each message, and in total.
const OVERHEAD_BYTES: u64 = 256;
const RESERVED_BYTES: u64 = 1 << 20;

/// Checks that there is a writable directory for shared memory.
pub(super) fn available() -> Result<(), Unavailable> {
    access(SHARED_MEMORY, Access::WRITE_OK | Access::EXEC_OK).map_err(|errno| Unavailable {
        reason: format!("POSIX shared memory, /dev/shm: {errno}"),
        remedy: "mount a tmpfs at /dev/shm that may be written to".to_owned(),
    })
}

/// Returns the largest message if shared memory must hold `messages` of them.
pub(super) fn limit(messages: u64) -> Option<Limit> {
    let all = space::of(SHARED_MEMORY)?.all_bytes;
    let each = all.saturating_sub(RESERVED_BYTES) / messages;
    let because = format!("/dev/shm has {all}, and {messages} messages lie in it");
    Some(Limit { bytes: each.saturating_sub(OVERHEAD_BYTES), because })
}

/// Returns the shared memory that `messages` messages of `bytes` bytes need.
fn needed_bytes(messages: u64, bytes: u64) -> u64 {
    bytes.saturating_add(OVERHEAD_BYTES).saturating_mul(messages).saturating_add(RESERVED_BYTES)
}

/// Refuses to start if shared memory is too full: the library would be killed by a signal at its first store.
fn ensure_room(messages: u64, setup: &Setup<'_>) -> Result<(), Failure> {
    let needed = needed_bytes(messages, setup.buffer_bytes);
    match space::of(SHARED_MEMORY) {
        Some(space) if space.free_bytes < needed => {
            let free = space.free_bytes;
            let place = format!("/dev/shm has {free} bytes free, and iceoryx2 needs {needed}");
            Err(refused(&place, Errno::NOSPC).with_remedy(
                "remove what nobody uses there, enlarge it (mount -o remount,size=BYTES /dev/shm), \
                 or use smaller messages",
            ))
        }
        _ => Ok(()),
    }
}

/// One of the two peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The peer that sends, or starts each round trip.
    Sender,
    /// The peer that receives, or answers.
    Receiver,
}

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }
}

/// Parameters that a peer needs to make its ports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) side: Side,
    /// Size of the largest message, bytes.
    pub(super) message_bytes: usize,
    /// Traffic pattern.
    pub(super) workload: Kind,
}

/// A node of the library.
pub(super) type Node = iceoryx2::node::Node<OwnersService>;

/// The ports of one peer.
pub(super) trait Ports: Sized + 'static {
    /// Returns the number of messages for which the library has memory.
    fn held(setup: &Setup<'_>) -> u64;

    /// Makes the ports; the peer's may not exist yet.
    fn make(node: &Node, part: Part) -> Result<Self, Errno>;

    /// Connects the ports with those of the peer, which exist.
    fn connect(&self) -> Result<(), Errno>;

    /// Copies `message` into a loan and sends it; blocks while the peer has not taken enough.
    fn send(&mut self, message: &[u8]) -> Result<(), Errno>;

    /// Copies the next message, if there is one, to the front of `into` and releases it.
    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Errno>;

    /// Borrows memory for a message of `bytes` bytes.
    fn loan(&mut self, bytes: usize) -> Result<(), Errno>;

    /// Returns the borrowed memory; empty if there is none.
    fn loaned(&mut self) -> &mut [u8];

    /// Sends the borrowed message; blocks while the peer has not taken enough.
    fn send_loan(&mut self) -> Result<(), Errno>;

    /// Takes the next message, if there is one, and returns its length.
    fn look(&mut self) -> Result<Option<usize>, Errno>;

    /// Returns the message that was taken; empty if there is none.
    fn taken(&self) -> &[u8];

    /// Copies the message that was taken into the borrowed memory.
    fn carry_over(&mut self);

    /// Releases the message that was taken.
    fn release(&mut self);
}

/// Executes `spec` and removes the names of the run.
pub(super) fn execute<P: Ports>(spec: &RunSpec, mechanism: &Mechanism<'_>) -> Report {
    let report = match API.chosen(&spec.options) {
        IN_PLACE => worker::execute::<Iceoryx<P, true>>(spec, mechanism),
        _ => worker::execute::<Iceoryx<P, false>>(spec, mechanism),
    };
    paths::clear();
    report
}

struct Iceoryx<P, const PLACE: bool>(PhantomData<P>);

impl<P: Ports, const PLACE: bool> Channel for Iceoryx<P, PLACE> {
    type End = IceoryxEnd<P, PLACE>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        ensure_room(P::held(setup), setup)?;
        let config = paths::open()?;
        let [senders, receivers] = Turns::pair().map_err(|errno| refused("socketpair", errno))?;
        let end = |side, turns| IceoryxEnd {
            part: Part {
                side,
                message_bytes: usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 4),
                workload: setup.workload,
            },
            config: config.clone(),
            nearness: setup.nearness,
            turns,
            own: Own(None),
        };
        let (sender, receiver) = (end(Side::Sender, senders), end(Side::Receiver, receivers));
        Ok(Opened { sender, receiver, granted: Granted::default() })
    }
}

/// One peer's endpoint; messages are composed and read in place if `PLACE`.
#[derive(Debug)]
struct IceoryxEnd<P, const PLACE: bool> {
    part: Part,
    config: Config,
    nearness: Nearness,
    turns: Turns,
    own: Own<P>,
}

/// Ports and the node that they belong to, which must stay on their thread.
#[derive(Debug)]
struct Own<P>(Option<(P, Node)>);

// SAFETY: it is empty until `prepare`. The thread that calls `prepare` uses the endpoint from then on and
// drops it.
unsafe impl<P> Send for Own<P> {}

impl<P: Ports> Own<P> {
    #[inline]
    fn ports(&mut self) -> Result<&mut P, Errno> {
        self.0.as_mut().map(|(ports, _)| ports).ok_or(Errno::NOTCONN)
    }
}

impl<P: Ports, const PLACE: bool> IceoryxEnd<P, PLACE> {
    /// Makes the ports and connects them once the peer's exist. The peers do this one at a time.
    fn joined(&self) -> Result<(P, Node), Errno> {
        let is_first = self.part.side == Side::Receiver;
        if !is_first {
            self.turns.wait()?;
        }
        let node = NodeBuilder::new()
            .config(&self.config)
            .signal_handling_mode(SignalHandlingMode::Disabled)
            .create::<OwnersService>()
            .map_err(unmade)?;
        let ports = P::make(&node, self.part)?;
        if is_first {
            self.turns.pass()?;
            self.turns.wait()?;
        }
        ports.connect()?;
        if !is_first {
            self.turns.pass()?;
        }
        Ok((ports, node))
    }

    /// Polls with `look` until it returns a message.
    #[inline]
    fn polled(
        &mut self,
        mut look: impl FnMut(&mut P) -> Result<Option<usize>, Errno>,
    ) -> Result<usize, Errno> {
        let ports = self.own.ports()?;
        loop {
            if let Some(bytes) = look(ports)? {
                return Ok(bytes);
            }
            match self.nearness {
                Nearness::Apart => spin_loop(),
                Nearness::OneCpu | Nearness::Unpinned => sched_yield(),
            }
        }
    }
}

impl<P: Ports, const PLACE: bool> Endpoint for IceoryxEnd<P, PLACE> {
    const KEEPS_BOUNDARIES: bool = true;
    const COUNTS_CALLS: bool = false;
    const SENDS_IN_PLACE: bool = PLACE;
    const RECEIVES_IN_PLACE: bool = PLACE;

    fn prepare(&mut self) -> Result<(), Errno> {
        self.own = Own(Some(self.joined().map_err(space::or_no_space)?));
        prefault::populate(paths::prefix()).map_err(space::or_no_space)
    }

    /// Borrows, copies and sends in one step instead of through `loan` and `send_loan`: storing the library's
    /// loan while it is filled costs 1/40 of a round trip.
    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.own.ports()?.send(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.polled(|ports| ports.receive(bytes))
    }

    #[inline]
    fn loan(&mut self, bytes: usize) -> Result<(), Errno> {
        self.own.ports()?.loan(bytes)
    }

    #[inline]
    fn loaned(&mut self) -> &mut [u8] {
        self.own.ports().map_or(&mut [], P::loaned)
    }

    #[inline]
    fn send_loan(&mut self) -> Result<(), Errno> {
        self.own.ports()?.send_loan()
    }

    #[inline]
    fn take(&mut self) -> Result<usize, Errno> {
        self.polled(P::look)
    }

    #[inline]
    fn taken(&self) -> &[u8] {
        self.own.0.as_ref().map_or(&[], |(ports, _)| ports.taken())
    }

    #[inline]
    fn release(&mut self) -> Result<(), Errno> {
        self.own.ports()?.release();
        Ok(())
    }

    /// Copies the message from one loan to another: a received message belongs to the peer and cannot be
    /// sent.
    fn send_taken(&mut self) -> Result<(), Errno> {
        let bytes = self.taken().len();
        let ports = self.own.ports()?;
        ports.loan(bytes)?;
        ports.carry_over();
        ports.release();
        ports.send_loan()
    }
}

/// Copies `message` to the front of `into` and returns its length.
#[inline]
pub(super) fn copied(message: &[u8], into: &mut [u8]) -> Result<usize, Errno> {
    into.get_mut(..message.len()).ok_or(Errno::MSGSIZE)?.copy_from_slice(message);
    Ok(message.len())
}

/// Returns the error for something that the library cannot make: the library's errors carry no system error
/// number.
pub(super) fn unmade(_: impl Debug) -> Errno {
    Errno::IO
}

/// Maps the library's error for a refused loan to the closest system error number.
#[cold]
pub(super) fn not_lent(error: LoanError) -> Errno {
    match error {
        LoanError::OutOfMemory => Errno::NOMEM,
        LoanError::ExceedsMaxLoanSize => Errno::MSGSIZE,
        LoanError::ExceedsMaxLoans => Errno::BUSY,
        LoanError::InternalFailure => Errno::IO,
    }
}

/// Maps the library's error for a failed send to a system error number, as [`not_lent`] does.
#[cold]
pub(super) fn not_sent(error: SendError) -> Errno {
    match error {
        SendError::LoanError(error) => not_lent(error),
        SendError::ConnectionBrokenSinceSenderNoLongerExists | SendError::ConnectionError(_) => {
            Errno::PIPE
        }
        SendError::ConnectionCorrupted | SendError::UnableToDeliver | SendError::InternalError => {
            Errno::IO
        }
    }
}
