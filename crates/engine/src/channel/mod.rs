//! What a mechanism must provide: two ends that send and receive.

mod facts;

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;

use ipcperf_model::message_options::Reuse;
use ipcperf_model::workload::Kind;
use ipcperf_model::{Failure, Mode, Privilege, RunSpec};
use rustix::io::Errno;

pub use facts::{
    Choice, Documentation, FactInWords, Lack, Limit, Mechanism, OptionSpec, OptionValues,
};

/// Where the parties run in relation to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearness {
    /// Both on one CPU: while one runs, the other cannot.
    OneCpu,
    /// Each on a CPU of its own.
    Apart,
    /// Wherever the scheduler puts them.
    Unpinned,
}

/// Where the parties of `spec` are in relation to each other.
#[must_use]
pub fn nearness(spec: &RunSpec) -> Nearness {
    match spec.cpus {
        _ if spec.mode == Mode::OneThread => Nearness::OneCpu,
        None => Nearness::Unpinned,
        Some([sender, receiver]) if sender == receiver => Nearness::OneCpu,
        Some(_) => Nearness::Apart,
    }
}

/// Whether a call waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// It waits until something moved.
    Wait,
    /// It returns [`Errno::AGAIN`] when nothing can move.
    Try,
}

/// What a mechanism is told when it is opened.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The mechanism's options by name.
    pub options: &'a BTreeMap<String, String>,
    /// Bytes of one message, or handed to one call: of the largest, where a reply has another size.
    pub buffer_bytes: u64,
    /// What the kernel shall hold between the parties, bytes; `None` for its default.
    pub kernel_buffer_asked_bytes: Option<u64>,
    /// Whether more than the system's maximum is tried for it.
    pub privilege: Privilege,
    /// Where the parties will run.
    pub nearness: Nearness,
    /// The CPUs of sender and receiver; `None` leaves both to the scheduler.
    pub cpus: Option<[u32; 2]>,
    /// Whether calls wait.
    pub blocking: Blocking,
    /// What the parties will do.
    pub workload: Kind,
    /// Which buffers they do it with.
    pub buffers: Reuse,
}

impl<'a> Setup<'a> {
    /// What the mechanism of `spec` is told.
    #[must_use]
    pub fn new(spec: &'a RunSpec) -> Self {
        Self {
            options: &spec.options,
            buffer_bytes: spec.largest_bytes(),
            kernel_buffer_asked_bytes: spec.kernel_buffer.asked_bytes(spec.buffer_bytes),
            privilege: spec.kernel_buffer.privilege(),
            nearness: nearness(spec),
            cpus: spec.cpus,
            blocking: match spec.mode {
                Mode::OneThread => Blocking::Try,
                Mode::TwoThreads | Mode::TwoProcesses => Blocking::Wait,
            },
            workload: spec.workload,
            buffers: spec.handling.buffers,
        }
    }
}

impl Setup<'_> {
    /// The value of option `name`, or `default` where it was not set.
    #[must_use]
    pub fn option<'b>(&'b self, name: &str, default: &'b str) -> &'b str {
        self.options.get(name).map_or(default, String::as_str)
    }

    /// A set-up for tests, with everything but `options` as usual.
    #[cfg(test)]
    pub(crate) fn plain(options: &BTreeMap<String, String>) -> Setup<'_> {
        Setup {
            options,
            buffer_bytes: 64,
            kernel_buffer_asked_bytes: None,
            privilege: Privilege::Used,
            nearness: Nearness::Unpinned,
            cpus: None,
            blocking: Blocking::Wait,
            workload: Kind::Stream,
            buffers: Reuse::Hot,
        }
    }

    /// The value of option `name` where it was set and is a number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        self.options.get(name)?.parse().ok()
    }
}

/// The kernel's answer to what was asked of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    /// What the kernel says it may hold, bytes; `None` where it holds nothing.
    pub kernel_buffer_bytes: Option<u64>,
}

/// The two ends of an open mechanism, made before the parties part.
#[derive(Debug)]
pub struct Opened<E> {
    /// For the party that sends, or starts each round trip.
    pub sender: E,
    /// For the party that receives, or answers.
    pub receiver: E,
    /// What the kernel granted.
    pub granted: Granted,
}

/// A mechanism as the loops see it: something that can be opened.
pub trait Channel {
    /// The type of both ends.
    type End: Endpoint;

    /// Opens both ends, connected to each other, in the worker and before any fork.
    ///
    /// # Errors
    /// [`ipcperf_model::FailureKind::SetUp`] with the call that failed.
    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure>;
}

/// One end of a mechanism: sends to and receives from the other end.
pub trait Endpoint: Send + 'static {
    /// Whether one receive returns one message, whole.
    const KEEPS_BOUNDARIES: bool;
    /// Whether messages may be lost.
    const LOSES: bool = false;
    /// Whether what was sent may still be read from the buffer it was sent from: see
    /// [`Endpoint::turns`].
    const LENDS: bool = false;

    /// Whether system calls can be counted: not where a library makes them.
    const COUNTS_CALLS: bool = true;

    /// Whether messages are composed in memory of the mechanism's: see [`Endpoint::loan`].
    const SENDS_IN_PLACE: bool = false;
    /// Whether messages are left in memory of the mechanism's on arrival: see [`Endpoint::take`].
    const RECEIVES_IN_PLACE: bool = false;

    /// How many buffers the party must send from in turn, so that none is written to while the other
    /// side may still read from it. More than one only where [`Endpoint::LENDS`].
    fn turns(&self) -> usize {
        1
    }

    /// Called by the party that will use this end, after it parted from the other: the place to
    /// map and touch memory.
    ///
    /// # Errors
    /// The system's refusal.
    fn prepare(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    /// Called after [`Endpoint::prepare`] with the memory that the party will send from and receive
    /// into, which does not go away while it plays: the place to tell the kernel of it.
    ///
    /// # Errors
    /// The system's refusal.
    fn adopt(&mut self, _buffers: &[&[u8]]) -> Result<(), Errno> {
        Ok(())
    }

    /// Hands `bytes` over and returns how many were taken. An end that sends in place copies them
    /// there.
    ///
    /// # Errors
    /// `EAGAIN` where nothing can move and calls do not wait; `EPIPE` and its like where the peer
    /// is gone; else the system's refusal.
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.loan(bytes.len())?;
        self.loaned().copy_from_slice(bytes);
        self.send_loan()?;
        Ok(bytes.len())
    }

    /// Fills `bytes` from the front with what has arrived and returns how many; 0 when the peer is
    /// gone. An end that receives in place copies it from there.
    ///
    /// # Errors
    /// As for [`Endpoint::send`].
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let length = self.take()?;
        bytes.get_mut(..length).ok_or(Errno::MSGSIZE)?.copy_from_slice(self.taken());
        self.release()?;
        Ok(length)
    }

    /// Finds a place for the next message, of `bytes`, in memory of the mechanism's; waits where all
    /// are taken.
    ///
    /// # Errors
    /// As for [`Endpoint::send`]; `EOPNOTSUPP` for an end that does not send in place. Of these calls and
    /// those below none is made again: an end that is interrupted goes on by itself.
    fn loan(&mut self, bytes: usize) -> Result<(), Errno> {
        let _ = bytes;
        Err(Errno::OPNOTSUPP)
    }

    /// The place that was found; empty where none was.
    fn loaned(&mut self) -> &mut [u8] {
        &mut []
    }

    /// Sends what lies in the place that was found.
    ///
    /// # Errors
    /// As for [`Endpoint::send`].
    fn send_loan(&mut self) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }

    /// Waits for a message, leaves it where it lies, and returns its length; 0 when the peer is gone.
    ///
    /// # Errors
    /// As for [`Endpoint::send`]; `EOPNOTSUPP` for an end that does not receive in place.
    fn take(&mut self) -> Result<usize, Errno> {
        Err(Errno::OPNOTSUPP)
    }

    /// The message that was taken; empty where none was.
    fn taken(&self) -> &[u8] {
        &[]
    }

    /// Gives the place of the message that was taken back.
    ///
    /// # Errors
    /// As for [`Endpoint::send`].
    fn release(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    /// Sends the message that was taken back as it is, and releases it.
    ///
    /// # Errors
    /// As for [`Endpoint::send`].
    fn send_taken(&mut self) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }

    /// Sends what was taken but held back; called when a party has done its part of a phase, which may
    /// end with a send. Anything may be where [`Endpoint::LENDS`], or where a library sends only while
    /// it is called.
    ///
    /// # Errors
    /// As for [`Endpoint::send`].
    fn flush(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    /// System calls made since this was last asked; `None` where each send and each receive is
    /// exactly one.
    fn take_calls(&mut self) -> Option<u64> {
        None
    }

    /// The process between the parties, where there is one: the role broker.
    fn broker(&self) -> Option<u32> {
        None
    }

    /// Throws away what has arrived unread: the end marks of a lossy stream.
    fn drain(&mut self) {}

    /// The descriptors to poll for room and for data, where there are such.
    fn descriptors(&self) -> Option<Descriptors<'_>> {
        None
    }

    /// Lets go of an end that belongs to the other process after a fork: descriptors are closed,
    /// so that end of file and `EPIPE` arrive, and the peer is told nothing.
    fn disown(self)
    where
        Self: Sized,
    {
        drop(self);
    }
}

/// What to poll before an end can move again.
#[derive(Clone, Copy, Debug)]
pub struct Descriptors<'a> {
    /// Readable when data has arrived.
    pub read: BorrowedFd<'a>,
    /// Writable when there is room.
    pub write: BorrowedFd<'a>,
}
