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
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{Failure, RunSpec, Unavailable, WorkerReport};
use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::thread::sched_yield;

use super::iceoryx_facts::{API, IN_PLACE};
use super::setup_failure::setup_failure;
use crate::channel::{Channel, Endpoint, Granted, Limit, Mechanism, Opened, PeerPlacement, Setup};
use crate::leftovers::SHM_FOLDER;
use crate::worker;
use connect_order::ConnectOrder;
pub(super) use service::OwnerOnlyService;

/// Maximum number of messages of a stream that wait for the receiver.
const STREAM_SLOTS: usize = 8;

/// Upper bounds for what the library adds to each message, and in total.
const OVERHEAD_BYTES: u64 = 256;
const RESERVED_BYTES: u64 = 1 << 20;

/// Returns the maximum number of messages, or requests, that wait for the receiver. With answers, one message waits.
pub(super) fn waiting_messages(workload: WorkloadKind) -> usize {
    if workload.is_answered() { 1 } else { STREAM_SLOTS }
}

/// Checks that there is a writable directory for shared memory.
pub(super) fn available() -> Result<(), Unavailable> {
    access(SHM_FOLDER, Access::WRITE_OK | Access::EXEC_OK).map_err(|errno| Unavailable {
        reason: format!("cannot access /dev/shm (POSIX shared memory): {errno}"),
        remedy: "mount a writable tmpfs at /dev/shm".to_owned(),
    })
}

/// Returns the largest message if shared memory must hold `messages` of them.
pub(super) fn limit(messages: u64) -> Option<Limit> {
    let all = space::query(SHM_FOLDER)?.total_bytes;
    let each = all.saturating_sub(RESERVED_BYTES) / messages;
    let reason = format!("/dev/shm has {all} bytes and must hold {messages} messages");
    Some(Limit { bytes: each.saturating_sub(OVERHEAD_BYTES), reason })
}

/// Returns the shared memory that `messages` messages of `bytes` bytes need.
fn needed_bytes(messages: u64, bytes: u64) -> u64 {
    bytes.saturating_add(OVERHEAD_BYTES).saturating_mul(messages).saturating_add(RESERVED_BYTES)
}

/// Refuses to start if shared memory is too full: the library would be killed by a signal at its first store.
fn ensure_space(messages: u64, setup: &Setup<'_>) -> Result<(), Failure> {
    let needed = needed_bytes(messages, setup.buffer_bytes);
    match space::query(SHM_FOLDER) {
        Some(space) if space.free_bytes < needed => {
            let free = space.free_bytes;
            let place = format!("/dev/shm has {free} bytes free, and iceoryx2 needs {needed}");
            Err(setup_failure(&place, Errno::NOSPC).with_remedy(
                "remove unused files there, enlarge it (mount -o remount,size=BYTES /dev/shm), or \
                    use smaller messages",
            ))
        }
        _ => Ok(()),
    }
}

/// One of the two peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PeerSide {
    /// The peer that sends, or starts each round trip.
    Sender,
    /// The peer that receives, or answers.
    Receiver,
}

impl PeerSide {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }
}

/// Parameters that a peer needs to make its ports.
#[derive(Clone, Copy, Debug)]
pub(super) struct PortConfig {
    pub(super) side: PeerSide,
    /// Size of the largest message, bytes.
    pub(super) message_bytes: usize,
    /// Traffic pattern.
    pub(super) workload: WorkloadKind,
}

/// A node of the library.
pub(super) type Node = iceoryx2::node::Node<OwnerOnlyService>;

/// The ports of one peer.
pub(super) trait Ports: Sized + 'static {
    /// Returns the number of messages for which the library has memory.
    fn in_flight_messages(setup: &Setup<'_>) -> u64;

    /// Makes the ports; the peer's may not exist yet.
    fn create(node: &Node, part: PortConfig) -> Result<Self, Errno>;

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
    fn poll(&mut self) -> Result<Option<usize>, Errno>;

    /// Returns the message that was taken; empty if there is none.
    fn taken(&self) -> &[u8];

    /// Copies the message that was taken into the borrowed memory.
    fn copy_taken(&mut self);

    /// Releases the message that was taken.
    fn release(&mut self);
}

/// Executes `spec` and removes the names of the run.
pub(super) fn execute<P: Ports>(spec: &RunSpec, mechanism: &Mechanism<'_>) -> WorkerReport {
    let report = match API.chosen(&spec.options) {
        IN_PLACE => worker::execute::<Iceoryx<P, true>>(spec, mechanism),
        _ => worker::execute::<Iceoryx<P, false>>(spec, mechanism),
    };
    paths::remove_all();
    report
}

struct Iceoryx<P, const PLACE: bool>(PhantomData<P>);

impl<P: Ports, const PLACE: bool> Channel for Iceoryx<P, PLACE> {
    type End = IceoryxEnd<P, PLACE>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        ensure_space(P::in_flight_messages(setup), setup)?;
        let config = paths::create()?;
        let [senders, receivers] =
            ConnectOrder::pair().map_err(|errno| setup_failure("socketpair", errno))?;
        let end = |side, turns| IceoryxEnd {
            port_config: PortConfig {
                side,
                message_bytes: usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 4),
                workload: setup.workload,
            },
            config: config.clone(),
            placement: setup.placement,
            connect_order: turns,
            local: LocalPorts(None),
        };
        let (sender, receiver) =
            (end(PeerSide::Sender, senders), end(PeerSide::Receiver, receivers));
        Ok(Opened { sender, receiver, granted: Granted::default() })
    }
}

/// One peer's endpoint; messages are composed and read in place if `PLACE`.
#[derive(Debug)]
struct IceoryxEnd<P, const PLACE: bool> {
    port_config: PortConfig,
    config: Config,
    placement: PeerPlacement,
    connect_order: ConnectOrder,
    local: LocalPorts<P>,
}

/// Ports and the node that they belong to, which must stay on their thread.
#[derive(Debug)]
struct LocalPorts<P>(Option<(P, Node)>);

// SAFETY: it is empty until `prepare`. The thread that calls `prepare` uses the endpoint from then on and
// drops it.
unsafe impl<P> Send for LocalPorts<P> {}

impl<P: Ports> LocalPorts<P> {
    #[inline]
    fn ports(&mut self) -> Result<&mut P, Errno> {
        self.0.as_mut().map(|(ports, _)| ports).ok_or(Errno::NOTCONN)
    }
}

impl<P: Ports, const PLACE: bool> IceoryxEnd<P, PLACE> {
    /// Makes the ports and connects them once the peer's exist. The peers do this one at a time.
    fn create_ports(&self) -> Result<(P, Node), Errno> {
        let is_first = self.port_config.side == PeerSide::Receiver;
        if !is_first {
            self.connect_order.wait()?;
        }
        let node = NodeBuilder::new()
            .config(&self.config)
            .signal_handling_mode(SignalHandlingMode::Disabled)
            .create::<OwnerOnlyService>()
            .map_err(library_error)?;
        let ports = P::create(&node, self.port_config)?;
        if is_first {
            self.connect_order.pass()?;
            self.connect_order.wait()?;
        }
        ports.connect()?;
        if !is_first {
            self.connect_order.pass()?;
        }
        Ok((ports, node))
    }

    /// Polls with `poll` until it returns a message.
    #[inline]
    fn poll_until_message(
        &mut self,
        mut poll: impl FnMut(&mut P) -> Result<Option<usize>, Errno>,
    ) -> Result<usize, Errno> {
        let ports = self.local.ports()?;
        loop {
            if let Some(bytes) = poll(ports)? {
                return Ok(bytes);
            }
            match self.placement {
                PeerPlacement::SeparateCpus => spin_loop(),
                PeerPlacement::OneCpu | PeerPlacement::Unpinned => sched_yield(),
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
        self.local = LocalPorts(Some(self.create_ports().map_err(space::or_no_space)?));
        prefault::populate(paths::prefix()).map_err(space::or_no_space)
    }

    /// Borrows, copies and sends in one step instead of through `loan` and `send_loan`: storing the library's
    /// loan while it is filled costs 1/40 of a round trip.
    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.local.ports()?.send(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.poll_until_message(|ports| ports.receive(bytes))
    }

    #[inline]
    fn loan(&mut self, bytes: usize) -> Result<(), Errno> {
        self.local.ports()?.loan(bytes)
    }

    #[inline]
    fn loaned(&mut self) -> &mut [u8] {
        self.local.ports().map_or(&mut [], P::loaned)
    }

    #[inline]
    fn send_loan(&mut self) -> Result<(), Errno> {
        self.local.ports()?.send_loan()
    }

    #[inline]
    fn take(&mut self) -> Result<usize, Errno> {
        self.poll_until_message(P::poll)
    }

    #[inline]
    fn taken(&self) -> &[u8] {
        self.local.0.as_ref().map_or(&[], |(ports, _)| ports.taken())
    }

    #[inline]
    fn release(&mut self) -> Result<(), Errno> {
        self.local.ports()?.release();
        Ok(())
    }

    /// Copies the message from one loan to another: a received message belongs to the peer and cannot be
    /// sent.
    #[inline]
    fn send_taken(&mut self) -> Result<(), Errno> {
        let bytes = self.taken().len();
        let ports = self.local.ports()?;
        ports.loan(bytes)?;
        ports.copy_taken();
        ports.release();
        ports.send_loan()
    }
}

/// Copies `message` to the front of `into` and returns its length.
#[inline]
pub(super) fn copy_out(message: &[u8], into: &mut [u8]) -> Result<usize, Errno> {
    into.get_mut(..message.len()).ok_or(Errno::MSGSIZE)?.copy_from_slice(message);
    Ok(message.len())
}

/// Returns the error for something that the library cannot make: the library's errors carry no system error
/// number.
pub(super) fn library_error(_: impl Debug) -> Errno {
    Errno::IO
}

/// Maps the library's error for a refused loan to the closest system error number.
#[cold]
pub(super) fn loan_error(error: LoanError) -> Errno {
    match error {
        LoanError::OutOfMemory => Errno::NOMEM,
        LoanError::ExceedsMaxLoanSize => Errno::MSGSIZE,
        LoanError::ExceedsMaxLoans => Errno::BUSY,
        LoanError::InternalFailure => Errno::IO,
    }
}

/// Maps the library's error for a failed send to a system error number, as [`loan_error`] does.
#[cold]
pub(super) fn send_error(error: SendError) -> Errno {
    match error {
        SendError::LoanError(error) => loan_error(error),
        SendError::ConnectionBrokenSinceSenderNoLongerExists | SendError::ConnectionError(_) => {
            Errno::PIPE
        }
        SendError::ConnectionCorrupted | SendError::UnableToDeliver | SendError::InternalError => {
            Errno::IO
        }
    }
}
