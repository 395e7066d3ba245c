//! Results of a run that are passed to its instruments, and the counters that the peers read for them.

use std::os::fd::BorrowedFd;

use ipcperf_model::SlowMessage;

/// A file descriptor that a peer reads just before and just after its part of every phase, outside its marks. Each
/// reading is the count so far, so the counter need not be enabled or disabled at an exact time.
#[derive(Clone, Copy, Debug)]
pub struct CounterFd<'a> {
    /// Role that the counter belongs to. The sender reads the broker's.
    pub role: &'a str,
    /// Descriptor to read: at most 64 words of 8 bytes.
    pub fd: BorrowedFd<'a>,
}

/// The two readings of one descriptor in the measured phase, as words; empty if it could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Reading just before the phase.
    pub before: Vec<u64>,
    /// Reading just after the phase.
    pub after: Vec<u64>,
}

/// Timing and counter readings of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunResult {
    /// Time just before the first byte of the measured phase was sent, on the monotonic clock, ns.
    pub began_ns: u64,
    /// Time from then until the last byte arrived, ns.
    pub elapsed_ns: u64,
    /// Readings of the descriptors that the watch supplied, in the same order.
    pub readings: Vec<Reading>,
    /// CPU time of each role in the measured phase, from the role's own CPU clock, ns, if known.
    pub cpu_ns: Vec<(String, u64)>,
    /// In a paced run, its slowest messages.
    pub paced: Option<PacedResult>,
}

/// Messages of a paced run whose delays are explained.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacedResult {
    /// The slowest messages, the slowest first.
    pub slow_messages: Vec<SlowMessage>,
    /// Median time from the actual send to the arrival, ns, over all messages.
    pub median_from_send_ns: u64,
}
