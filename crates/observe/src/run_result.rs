//! What a run tells the instruments that watched it, and what they have its parties read.

use std::os::fd::BorrowedFd;

/// A descriptor that a party reads just before and just after its part of every phase, outside its marks:
/// what is read is what was counted up to then, so nothing needs to be on or off in time.
#[derive(Clone, Copy, Debug)]
pub struct Dial<'a> {
    /// The role of which it tells. A broker's is read by the sender.
    pub role: &'a str,
    /// What is read: at most 64 words of 8 bytes.
    pub descriptor: BorrowedFd<'a>,
}

/// The two readings of a dial in the phase that counted, as words; empty where it could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Just before it.
    pub before: Vec<u64>,
    /// Just after it.
    pub after: Vec<u64>,
}

/// How a run went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// When the first byte of the phase that counted was about to be sent, by the monotonic clock, ns.
    pub began_ns: u64,
    /// Until its last byte had arrived, ns.
    pub elapsed_ns: u64,
    /// Of the dials that the watch gave, in its order.
    pub readings: Vec<Reading>,
    /// CPU time of each role in it, by its own clock, ns, where that is known.
    pub cpu_ns: Vec<(String, u64)>,
}
