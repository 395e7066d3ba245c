//! Workloads: the traffic patterns that the peers run over a mechanism.
//!
//! The list of workloads is [`WORKLOADS`](ipcperf_model::workload::WORKLOADS). Each has its loops in one file here;
//! `request-reply` uses those of `round-trip`. They are generic over the mechanism's end and over whether messages are
//! checked.

mod buffer_pool;
mod hub;
mod interleaved;
mod latency_recorder;
mod lossy;
mod multiplexer;
mod paced;
mod paced_hub;
mod pacer;
mod round_trip;
mod schedule;
mod send_times;
mod sender_loop;
mod slow_messages;
mod stream;
mod transfer;
#[cfg(target_os = "linux")]
mod uring_polls;

use std::ops::Range;

pub use buffer_pool::{BufferPool, PhaseBuffers, pool_bytes};
pub use hub::{HubEnd, HubTask, receive_from_all, send_to_all, serve_all};
pub use latency_recorder::{ArrivalCounts, LatencyHistograms};
pub use multiplexer::Multiplexer;
pub use paced::{PacedPeer, PacedTask, Traffic};
pub use paced_hub::{receive_paced_from_all, send_paced_to_all};
pub use pacer::Delays;
pub use round_trip::RoundTrip;
pub use schedule::checkpoint_message;
pub use send_times::{STAMP_BYTES, SendTimes, TABLE_BYTES_PER_MESSAGE, needs_table};
pub use slow_messages::MessageTimes;
pub use stream::Stream;

use ipcperf_model::{Answer, Failure, RunSpec};

use crate::channel::MessageEnd;
use crate::histogram::TickHistogram;
use crate::payload_check::{MessageDirection, Payload};
use crate::shared_state::Control;

/// Amount that a run of `spec` moves if it moves `total_bytes` one way. Messages of different sizes are as many as there
/// would be if all had the mean size.
#[must_use]
pub fn phase_size(spec: &RunSpec, total_bytes: u64) -> PhaseSize {
    let buffer_bytes = usize::try_from(spec.buffer_bytes.max(1)).unwrap_or(usize::MAX);
    if spec.message_options.sizes.is_some() {
        return PhaseSize::new(buffer_bytes, total_bytes.div_ceil(spec.mean_bytes().max(1)));
    }
    match spec.workload {
        kind if kind.is_answered() => RoundTrip::phase_size(buffer_bytes, total_bytes),
        // A paced run is not sized by a total.
        _ => Stream::phase_size(buffer_bytes, total_bytes),
    }
}

/// Amount of data of one phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseSize {
    /// Size of each message, bytes, except possibly the last.
    pub buffer_bytes: usize,
    /// Number of messages.
    pub messages: u64,
    /// Size of the last message, bytes.
    pub last_bytes: usize,
}

impl PhaseSize {
    /// Creates the size of `messages` messages of `buffer_bytes` each.
    #[must_use]
    pub const fn new(buffer_bytes: usize, messages: u64) -> Self {
        Self { buffer_bytes, messages, last_bytes: buffer_bytes }
    }

    /// Creates the size of exactly `total_bytes`, at least 1; the last message holds the remainder.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "a remainder below buffer_bytes")]
    pub const fn from_total(buffer_bytes: usize, total_bytes: u64) -> Self {
        let messages = total_bytes.div_ceil(buffer_bytes as u64);
        let last_bytes = (total_bytes - (messages - 1) * buffer_bytes as u64) as usize;
        Self { buffer_bytes, messages, last_bytes }
    }

    /// Size of message `number`, bytes.
    #[inline]
    #[must_use]
    pub const fn message_bytes(&self, number: u64) -> usize {
        if number + 1 == self.messages { self.last_bytes } else { self.buffer_bytes }
    }

    /// Payload of all messages in one direction, bytes.
    #[must_use]
    pub const fn total_bytes(&self) -> u64 {
        (self.messages - 1) * self.buffer_bytes as u64 + self.last_bytes as u64
    }

    /// Numbers of all messages.
    #[must_use]
    pub const fn numbers(&self) -> Range<u64> {
        0..self.messages
    }
}

/// Counters of a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    /// Sends, receives and polls.
    pub transfers: u64,
    /// Polls among them, which no end counts.
    pub polls: u64,
    /// Sends that accepted less than they were given.
    pub short_writes: u64,
    /// Receives that returned less than requested.
    pub short_reads: u64,
}

/// State of a peer during one phase.
#[derive(Debug)]
pub struct Task<'a, E: ?Sized, P> {
    /// This peer's end of the mechanism.
    pub end: &'a mut E,
    /// Buffers to send from.
    pub outgoing: PhaseBuffers<'a>,
    /// Buffers to receive into.
    pub incoming: PhaseBuffers<'a>,
    /// Processing of each message.
    pub payload: P,
    /// Amount of data to move.
    pub size: PhaseSize,
    /// Reply to each message.
    pub answer: Answer,
    /// State that the peers share.
    pub control: &'a Control,
    /// Counters of this peer.
    pub meter: Meter,
    /// Single round trips, in ticks.
    pub trips: &'a mut TickHistogram,
    /// Interval between individually timed trips, in trips.
    pub timed_every: u64,
    /// Payload that arrived, bytes; only counted by loops over mechanisms that may lose messages.
    pub arrived_bytes: u64,
}

impl<E: ?Sized, P> Task<'_, E, P> {
    // The functions below are inlined always, so that no loop over messages of one size chooses a size.

    /// Size of message `number`, or of its reply, bytes.
    #[inline(always)]
    fn message_bytes(&self, number: u64, direction: MessageDirection) -> usize
    where
        P: Payload,
    {
        match (direction, self.answer) {
            (MessageDirection::Reverse, Answer::Separate(bytes)) => bytes,
            (MessageDirection::Forward, _)
            | (MessageDirection::Reverse, Answer::Echo | Answer::SameSize) => {
                match self.payload.order() {
                    None => self.size.message_bytes(number),
                    Some(order) => order.message_bytes(number),
                }
            }
        }
    }

    /// Size of request `number`, bytes. All requests have one size, unless they are mixed.
    #[inline(always)]
    fn request_bytes(&self, number: u64) -> usize
    where
        P: Payload,
    {
        self.payload.order().map_or(self.size.buffer_bytes, |order| order.message_bytes(number))
    }

    /// Size of the answer to request `number`, bytes.
    #[inline(always)]
    fn answer_bytes(&self, number: u64) -> usize
    where
        P: Payload,
    {
        match self.answer {
            Answer::Separate(bytes) => bytes,
            Answer::Echo | Answer::SameSize => self.request_bytes(number),
        }
    }

    /// Size of the buffer for a message that may follow lost ones, bytes.
    #[inline(always)]
    fn buffer_bytes(&self, next: u64) -> usize
    where
        P: Payload,
    {
        match self.payload.order() {
            None => self.size.message_bytes(next),
            Some(_) => self.size.buffer_bytes,
        }
    }

    /// Whether `got` bytes may be the whole of a message that may follow lost ones. Its number is `number` if the payload
    /// reads it, and else unknown.
    #[inline]
    fn is_whole(&self, number: u64, got: usize) -> bool
    where
        P: Payload,
    {
        match self.payload.order() {
            None => got == self.size.buffer_bytes || got == self.size.last_bytes,
            Some(order) if self.payload.reads_number() => got == order.message_bytes(number),
            Some(order) => order.has_size(got),
        }
    }

    /// Direction that the stamps of replies encode: an echo keeps the stamp of the message it answers.
    #[inline]
    fn reply_stamp(&self) -> MessageDirection {
        match self.answer {
            Answer::Separate(_) | Answer::SameSize => MessageDirection::Reverse,
            Answer::Echo => MessageDirection::Forward,
        }
    }

    /// Makes the end send what it still holds back.
    pub(crate) fn flush(&mut self) -> Result<(), Failure>
    where
        E: MessageEnd,
    {
        self.end.flush().map_err(|errno| transfer::call_failed("send", 0, errno))
    }
}

/// A workload: the part of each peer in one phase. It records the start and end of the clock with [`Control::begin`]
/// and [`Control::finish`].
///
/// Its functions are `#[inline]` where they are implemented, so that the fields of the [`Task`] can be in registers, even
/// if the caller is in another codegen unit.
pub trait Workload {
    /// Amount that a run of `total_bytes` moves.
    fn phase_size(buffer_bytes: usize, total_bytes: u64) -> PhaseSize;

    /// Runs the peer that sends, or that starts each round trip.
    ///
    /// # Errors
    /// Returns the first call that failed, or the first message that was wrong.
    fn send<E: MessageEnd + ?Sized, P: Payload>(task: &mut Task<'_, E, P>) -> Result<(), Failure>;

    /// Runs the peer that receives, or that replies.
    ///
    /// # Errors
    /// As for [`Workload::send`].
    fn receive<E: MessageEnd + ?Sized, P: Payload>(
        task: &mut Task<'_, E, P>,
    ) -> Result<(), Failure>;

    /// Runs both peers in one thread; `receiver` is the other end.
    ///
    /// # Errors
    /// As for [`Workload::send`].
    fn both<E: MessageEnd + ?Sized, P: Payload>(
        task: &mut Task<'_, E, P>,
        receiver: &mut E,
    ) -> Result<(), Failure>;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_size_of_a_total_moves_exactly_that(buffer in 1_usize..100_000, total in 1_u64..1 << 40) {
            let size = PhaseSize::from_total(buffer, total);
            prop_assert_eq!(size.total_bytes(), total);
            prop_assert!(size.last_bytes >= 1 && size.last_bytes <= buffer);
        }
    }
}
