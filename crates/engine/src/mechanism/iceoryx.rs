//! iceoryx2, the library: what `iceoryx2-pubsub` and `iceoryx2-reqres` have in common. Which of its
//! ports carry the messages is the [`Ports`]' own.
//!
//! The library keeps files and shared memory under names of its own choice, within a [`room`] of the
//! run's. Nodes and ports are made after the fork, each party's by itself. The library has no call that
//! waits for a message: parties look, again and again.

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

/// The option of both mechanisms.
pub(super) const API: OptionSpec = OptionSpec {
    name: "api",
    about: "copy to and from the library's memory, or write and read messages where they lie in it",
    values: OptionValues::OneOf(&["copy", IN_PLACE]),
    default: "copy",
};

const IN_PLACE: &str = "loan";

/// What becomes of payload.
pub(super) const FATE: PayloadFate =
    PayloadFate::Chosen { option: API.name, handed_over: IN_PLACE };

/// Why no two users meet. A feature of the library's, for those who develop it, opens them to all.
pub(super) const OWNERS_ALONE: &str = "its files and its shared memory are their owner's alone";

/// Two parties: a send waits by itself where there is no room.
pub(super) const MODES: [Mode; 2] = [Mode::TwoThreads, Mode::TwoProcesses];

/// Messages of a stream that may wait for their receiver. Where each is answered, one does.
pub(super) const STREAM_PLACES: usize = 8;

/// What the library adds to each message and to the whole: generously.
const OVERHEAD_BYTES: u64 = 256;
const RESERVED_BYTES: u64 = 1 << 20;

/// Whether there is a folder for shared memory.
pub(super) fn available() -> Result<(), Unavailable> {
    access(SHARED_MEMORY, Access::WRITE_OK | Access::EXEC_OK).map_err(|errno| Unavailable {
        reason: format!("POSIX shared memory, /dev/shm: {errno}"),
        remedy: "mount a tmpfs at /dev/shm that may be written to".to_owned(),
    })
}

/// What shared memory has room for, where `messages` lie in it.
pub(super) fn limit(messages: u64) -> Option<Limit> {
    let all = space::of(SHARED_MEMORY)?.all_bytes;
    let each = all.saturating_sub(RESERVED_BYTES) / messages;
    let because = format!("/dev/shm has {all}, and {messages} messages lie in it");
    Some(Limit { bytes: each.saturating_sub(OVERHEAD_BYTES), because })
}

/// Shared memory that `messages` of `bytes` take.
fn needed_bytes(messages: u64, bytes: u64) -> u64 {
    bytes.saturating_add(OVERHEAD_BYTES).saturating_mul(messages).saturating_add(RESERVED_BYTES)
}

/// Refuses to begin where others have filled shared memory: the library would die of its first store.
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

/// Which party.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The one that sends, or starts each round trip.
    Sender,
    /// The one that receives, or answers.
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

/// What a party has to know to take its part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) side: Side,
    /// Bytes of the largest message.
    pub(super) message_bytes: usize,
    pub(super) is_answered: bool,
}

/// A node of the library's.
pub(super) type Node = iceoryx2::node::Node<OwnersService>;

/// The ports of one party.
pub(super) trait Ports: Sized + 'static {
    /// Messages that the library has memory for.
    fn held(setup: &Setup<'_>) -> u64;

    /// Makes them; those of the peer may not be there yet.
    fn make(node: &Node, part: Part) -> Result<Self, Errno>;

    /// Connects them with those of the peer, which are there.
    fn connect(&self) -> Result<(), Errno>;

    /// Copies `message` to a place, and sends it; waits where the peer has not taken enough.
    fn send(&mut self, message: &[u8]) -> Result<(), Errno>;

    /// Copies a message, if there is one, to the front of `into`, and gives its place back.
    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Errno>;

    /// Finds a place for a message of `bytes`.
    fn loan(&mut self, bytes: usize) -> Result<(), Errno>;

    /// The place that was found; empty where none was.
    fn loaned(&mut self) -> &mut [u8];

    /// Sends what lies in the place that was found; waits where the peer has not taken enough.
    fn send_loan(&mut self) -> Result<(), Errno>;

    /// Takes a message, if there is one.
    fn look(&mut self) -> Result<Option<usize>, Errno>;

    /// The message that was taken; empty where none was.
    fn taken(&self) -> &[u8];

    /// Copies the message that was taken to the place that was found.
    fn carry_over(&mut self);

    /// Gives the place of the message that was taken back.
    fn release(&mut self);
}

/// Carries out `spec`, and removes the room.
pub(super) fn execute<P: Ports>(spec: &RunSpec, mechanism: &Mechanism<'_>) -> Report {
    let report = match spec.options.get(API.name).map_or(API.default, String::as_str) {
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
                is_answered: setup.workload.is_answered(),
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

/// One party's end; messages are composed and read in place where `PLACE`.
#[derive(Debug)]
struct IceoryxEnd<P, const PLACE: bool> {
    part: Part,
    config: Config,
    nearness: Nearness,
    turns: Turns,
    own: Own<P>,
}

/// Ports and the node they belong to, none of which may change its thread.
#[derive(Debug)]
struct Own<P>(Option<(P, Node)>);

// SAFETY: there is nothing in it until `prepare`, which is called by the thread that uses the end from
// then on, and drops it.
unsafe impl<P> Send for Own<P> {}

impl<P: Ports> Own<P> {
    #[inline]
    fn ports(&mut self) -> Result<&mut P, Errno> {
        self.0.as_mut().map(|(ports, _)| ports).ok_or(Errno::NOTCONN)
    }
}

impl<P: Ports, const PLACE: bool> IceoryxEnd<P, PLACE> {
    /// Makes ports, and connects them once the peer's are there. Only ever one party is at it.
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

    /// What `look` finds, as soon as it does.
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

    /// Without a stop in between, unlike what is composed in place: keeping the library's loan while it
    /// is filled costs a fortieth of a round trip.
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

    /// What was received cannot be sent: it is the peer's. It is copied from one place to the other.
    fn send_taken(&mut self) -> Result<(), Errno> {
        let bytes = self.taken().len();
        let ports = self.own.ports()?;
        ports.loan(bytes)?;
        ports.carry_over();
        ports.release();
        ports.send_loan()
    }
}

/// Copies `message` to the front of `into`; its length.
#[inline]
pub(super) fn copied(message: &[u8], into: &mut [u8]) -> Result<usize, Errno> {
    into.get_mut(..message.len()).ok_or(Errno::MSGSIZE)?.copy_from_slice(message);
    Ok(message.len())
}

/// What the library says where it cannot make something: its words have no numbers of the system.
pub(super) fn unmade(_: impl Debug) -> Errno {
    Errno::IO
}

/// The number of the system nearest to what the library says of a place that it does not find.
#[cold]
pub(super) fn not_lent(error: LoanError) -> Errno {
    match error {
        LoanError::OutOfMemory => Errno::NOMEM,
        LoanError::ExceedsMaxLoanSize => Errno::MSGSIZE,
        LoanError::ExceedsMaxLoans => Errno::BUSY,
        LoanError::InternalFailure => Errno::IO,
    }
}

/// As [`not_lent`], for a message that is not sent.
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
