//! Interface of a mechanism: two ends that send and receive.

mod facts;
mod meeting;
mod message_end;
mod multiplexing;

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;

use ipcperf_model::message_options::BufferReuse;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{Failure, Mode, Privilege, RunSpec};
use rustix::io::Errno;

pub use facts::{
    Choice, Documentation, FormattedFact, Limit, ManyPeers, Mechanism, MeetFn, OptionSpec,
    OptionValues, ProgramReport, UnavailableValue,
};
pub use meeting::{Creator, Meet, Meeting, MeetingPlace, Part, PeerUsers, ProgramPart, Visitors};
pub use message_end::{EndTraits, MessageEnd};
pub use multiplexing::{MULTIPLEX, Multiplexing};

/// Where the peers run relative to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerPlacement {
    /// Both on one CPU: while one runs, the other cannot.
    OneCpu,
    /// Each on a separate CPU.
    SeparateCpus,
    /// Placed by the scheduler.
    Unpinned,
}

/// Where the peers of `spec` run relative to each other.
#[must_use]
pub fn peer_placement(spec: &RunSpec) -> PeerPlacement {
    match spec.cpus {
        _ if spec.mode == Mode::OneThread => PeerPlacement::OneCpu,
        None => PeerPlacement::Unpinned,
        Some([sender, receiver]) if sender == receiver && spec.all_cpus().len() == 1 => {
            PeerPlacement::OneCpu
        }
        // Several peers may share each CPU.
        Some(_) if spec.connections() > 1 => PeerPlacement::Unpinned,
        Some(_) => PeerPlacement::SeparateCpus,
    }
}

/// Whether calls block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// Waits until data can move.
    Wait,
    /// Returns [`Errno::AGAIN`] if no data can move.
    Try,
}

/// Parameters for opening a mechanism.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// Options of the mechanism by name.
    pub options: &'a BTreeMap<String, String>,
    /// Bytes per message, or per call; those of the larger one if request and reply differ.
    pub buffer_bytes: u64,
    /// Bytes of the smallest message from sender to receiver.
    pub smallest_bytes: u64,
    /// Requested size of the kernel buffers between the peers, bytes; `None` for the default.
    pub kernel_buffer_requested_bytes: Option<u64>,
    /// Whether to try more than the system's maximum for it.
    pub privilege: Privilege,
    /// Where the peers will run.
    pub placement: PeerPlacement,
    /// CPUs of sender and receiver; `None` leaves both to the scheduler.
    pub cpus: Option<[u32; 2]>,
    /// Whether calls block.
    pub blocking: Blocking,
    /// Workload that the peers will run.
    pub workload: WorkloadKind,
    /// Buffers that the workload uses.
    pub buffers: BufferReuse,
}

impl<'a> Setup<'a> {
    /// Parameters for the mechanism of `spec`.
    #[must_use]
    pub fn new(spec: &'a RunSpec) -> Self {
        Self {
            options: &spec.options,
            buffer_bytes: spec.largest_bytes(),
            smallest_bytes: spec.smallest_bytes(),
            kernel_buffer_requested_bytes: spec.kernel_buffer.requested_bytes(spec.buffer_bytes),
            privilege: spec.kernel_buffer.privilege(),
            placement: match spec.has_shared_cpus() {
                // A peer that polls would keep another one from running, though not the one that it waits for.
                true => PeerPlacement::OneCpu,
                false => peer_placement(spec),
            },
            cpus: spec.cpus,
            blocking: match spec.mode {
                Mode::OneThread => Blocking::Try,
                Mode::TwoThreads | Mode::TwoProcesses | Mode::TwoPrograms => Blocking::Wait,
            },
            workload: spec.workload,
            buffers: spec.message_options.buffers,
        }
    }
}

impl Setup<'_> {
    /// Value of `option`, or its default if unset.
    #[must_use]
    pub fn option(&self, option: &OptionSpec) -> &str {
        option.chosen(self.options)
    }

    /// A setup for tests, with defaults for everything but `options`.
    #[cfg(test)]
    pub(crate) fn with_options(options: &BTreeMap<String, String>) -> Setup<'_> {
        Setup {
            options,
            buffer_bytes: 64,
            smallest_bytes: 64,
            kernel_buffer_requested_bytes: None,
            privilege: Privilege::Used,
            placement: PeerPlacement::Unpinned,
            cpus: None,
            blocking: Blocking::Wait,
            workload: WorkloadKind::Stream,
            buffers: BufferReuse::Hot,
        }
    }

    /// Value of `option`, or its default if unset; `None` if that is not a number.
    #[must_use]
    pub fn number(&self, option: &OptionSpec) -> Option<u64> {
        self.option(option).parse().ok()
    }
}

/// Kernel's reply to the requested sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    /// Size the kernel reports for its buffers, bytes; `None` if it has no buffer.
    pub kernel_buffer_bytes: Option<u64>,
}

/// The two ends of an open mechanism, created before the fork.
#[derive(Debug)]
pub struct Opened<E> {
    /// End of the peer that sends, or that starts each round trip.
    pub sender: E,
    /// End of the peer that receives, or that replies.
    pub receiver: E,
    /// Sizes that the kernel granted.
    pub granted: Granted,
}

/// A mechanism that can be opened.
pub trait Channel {
    /// Type of both ends.
    type End: Endpoint;

    /// Opens both ends, connected to each other, in the worker and before any fork.
    ///
    /// # Errors
    /// Returns [`ipcperf_model::FailureKind::SetUp`] with the call that failed.
    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure>;
}

/// One end of a mechanism: sends to and receives from the other end.
pub trait Endpoint: Send + 'static {
    /// Whether one receive returns exactly one message.
    const KEEPS_BOUNDARIES: bool;
    /// Whether messages may be lost.
    const LOSSY: bool = false;
    /// Whether a sent message may still be read from the send buffer: see [`Endpoint::send_buffers_needed`].
    const BORROWS_SEND_BUFFER: bool = false;

    /// Whether system calls can be counted; they cannot if a library makes them.
    const COUNTS_CALLS: bool = true;

    /// Whether messages are composed in memory of the mechanism: see [`Endpoint::loan`].
    const SENDS_IN_PLACE: bool = false;
    /// Whether messages stay in memory of the mechanism on arrival: see [`Endpoint::take`].
    const RECEIVES_IN_PLACE: bool = false;

    /// Number of buffers to send from in rotation, so that none is written to while the other side may still read it.
    /// More than one only with [`Endpoint::BORROWS_SEND_BUFFER`].
    fn send_buffers_needed(&self) -> usize {
        1
    }

    /// Maps and touches memory. Called by the peer that will use this end, after the fork.
    ///
    /// # Errors
    /// Returns the system's error.
    fn prepare(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    /// Registers the memory that the peer will send from and receive into, which stays mapped while it runs. Called
    /// after [`Endpoint::prepare`].
    ///
    /// # Errors
    /// Returns the system's error.
    fn register_buffers(&mut self, _buffers: &[&[u8]]) -> Result<(), Errno> {
        Ok(())
    }

    /// Sends `bytes` and returns how many were accepted. An end that sends in place copies them there.
    ///
    /// # Errors
    /// Returns `EAGAIN` if no data can move and calls do not block, `EPIPE` or a similar error if the peer is gone,
    /// else the system's error.
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.loan(bytes.len())?;
        self.loaned().copy_from_slice(bytes);
        self.send_loan()?;
        Ok(bytes.len())
    }

    /// Fills `bytes` from the front with received data and returns its length; 0 if the peer is gone. An end that
    /// receives in place copies the data from there.
    ///
    /// # Errors
    /// As for [`Endpoint::send`].
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let length = self.take()?;
        bytes.get_mut(..length).ok_or(Errno::MSGSIZE)?.copy_from_slice(self.taken());
        self.release()?;
        Ok(length)
    }

    /// Reserves space for the next message, of `bytes`, in memory of the mechanism; waits if all space is in use.
    ///
    /// # Errors
    /// As for [`Endpoint::send`]; `EOPNOTSUPP` for an end that does not send in place. The caller retries neither this
    /// call nor those below: an end that is interrupted continues by itself.
    fn loan(&mut self, bytes: usize) -> Result<(), Errno> {
        let _ = bytes;
        Err(Errno::OPNOTSUPP)
    }

    /// The reserved space; empty if none is reserved.
    fn loaned(&mut self) -> &mut [u8] {
        &mut []
    }

    /// Sends the message in the reserved space.
    ///
    /// # Errors
    /// As for [`Endpoint::send`].
    fn send_loan(&mut self) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }

    /// Waits for a message, leaves it in place, and returns its length; 0 if the peer is gone.
    ///
    /// # Errors
    /// As for [`Endpoint::send`]; `EOPNOTSUPP` for an end that does not receive in place.
    fn take(&mut self) -> Result<usize, Errno> {
        Err(Errno::OPNOTSUPP)
    }

    /// The message that was taken; empty if none was.
    fn taken(&self) -> &[u8] {
        &[]
    }

    /// Releases the message that was taken.
    ///
    /// # Errors
    /// As for [`Endpoint::send`].
    fn release(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    /// Sends the message that was taken back unchanged, and releases it.
    ///
    /// # Errors
    /// As for [`Endpoint::send`].
    fn send_taken(&mut self) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }

    /// Sends messages that were accepted but held back. Called after a peer has done its part of a phase, which may end
    /// with a send. Messages may be held back with [`Endpoint::BORROWS_SEND_BUFFER`], or if a library sends only while
    /// it is called.
    ///
    /// # Errors
    /// As for [`Endpoint::send`].
    fn flush(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    /// Number of system calls since the last query; `None` if each send and each receive is exactly one.
    fn take_calls(&mut self) -> Option<u64> {
        None
    }

    /// Process ID of the broker between the peers, if there is one.
    fn broker_pid(&self) -> Option<u32> {
        None
    }

    /// Discards unread data: the end marks of a lossy stream.
    fn drain(&mut self) {}

    /// Whether the next receive would not wait, for ends without [`Endpoint::descriptors`] that can tell; `None` for all
    /// others.
    fn is_ready(&mut self) -> Option<bool> {
        None
    }

    /// Descriptors to poll for room and for data, if any.
    fn descriptors(&self) -> Option<Descriptors<'_>> {
        None
    }

    /// Closes an end that belongs to the other process after a fork. Descriptors are closed, so that end of file and
    /// `EPIPE` can arrive; the peer is sent nothing.
    fn close_after_fork(self)
    where
        Self: Sized,
    {
        drop(self);
    }
}

/// Descriptors to poll before an end can move data again.
#[derive(Clone, Copy, Debug)]
pub struct Descriptors<'a> {
    /// Readable when data has arrived.
    pub read: BorrowedFd<'a>,
    /// Writable when there is room.
    pub write: BorrowedFd<'a>,
}
