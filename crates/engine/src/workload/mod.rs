//! The workloads: what the parties do with a mechanism.
//!
//! Each is one file here, one line in [`Kind`] and one in [`WORKLOADS`]. Its loops are generic over
//! the mechanism's end and over whether messages are checked.

mod buffer_pool;
mod interleaved;
mod lossy;
mod request_reply;
mod round_trip;
mod stream;
mod transfer;

use std::ops::Range;

pub use buffer_pool::{Places, places_bytes};
pub use round_trip::RoundTrip;
pub use stream::Stream;

use ipcperf_model::workload::Kind;
use ipcperf_model::{Answer, Failure};

use crate::channel::Endpoint;
use crate::histogram::TickHistogram;
use crate::payload::{Payload, Way};
use crate::shared_state::Control;

/// How much a run of `kind` moves that moves `total_bytes` one way.
#[must_use]
pub fn extent(kind: Kind, buffer_bytes: usize, total_bytes: u64) -> Extent {
    match kind {
        Kind::Stream => Stream::extent(buffer_bytes, total_bytes),
        Kind::RoundTrip | Kind::RequestReply => RoundTrip::extent(buffer_bytes, total_bytes),
    }
}

/// How much is moved in one phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes of each message but perhaps the last.
    pub buffer_bytes: usize,
    /// How many messages.
    pub messages: u64,
    /// Bytes of the last message.
    pub last_bytes: usize,
}

impl Extent {
    /// `messages` of `buffer_bytes` each.
    #[must_use]
    pub const fn whole(buffer_bytes: usize, messages: u64) -> Self {
        Self { buffer_bytes, messages, last_bytes: buffer_bytes }
    }

    /// Exactly `total_bytes`, at least 1, the last message being what remains.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "a remainder below buffer_bytes")]
    pub const fn of_total(buffer_bytes: usize, total_bytes: u64) -> Self {
        let messages = total_bytes.div_ceil(buffer_bytes as u64);
        let last_bytes = (total_bytes - (messages - 1) * buffer_bytes as u64) as usize;
        Self { buffer_bytes, messages, last_bytes }
    }

    /// Bytes of message `number`.
    #[inline]
    #[must_use]
    pub const fn bytes_of(&self, number: u64) -> usize {
        if number + 1 == self.messages { self.last_bytes } else { self.buffer_bytes }
    }

    /// Payload of all messages, one way.
    #[must_use]
    pub const fn total_bytes(&self) -> u64 {
        (self.messages - 1) * self.buffer_bytes as u64 + self.last_bytes as u64
    }

    /// The numbers of all messages.
    #[must_use]
    pub const fn numbers(&self) -> Range<u64> {
        0..self.messages
    }
}

/// What a party counts as it goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    /// Sends, receives and polls made.
    pub transfers: u64,
    /// The polls among them: calls that no end counts.
    pub polls: u64,
    /// Sends that took less than they were given.
    pub short_writes: u64,
    /// Receives that returned less than was asked.
    pub short_reads: u64,
}

/// Everything a party works with during one phase.
#[derive(Debug)]
pub struct Task<'a, E, P> {
    /// Its end of the mechanism.
    pub end: &'a mut E,
    /// Where messages are sent from.
    pub outgoing: &'a mut Places,
    /// Where messages are received into.
    pub incoming: &'a mut Places,
    /// What is done to each message.
    pub payload: P,
    /// How much is moved.
    pub extent: Extent,
    /// What each message is answered with.
    pub answer: Answer,
    /// What the parties share.
    pub control: &'a Control,
    /// What is counted.
    pub meter: Meter,
    /// Single round trips, in ticks.
    pub trips: &'a mut TickHistogram,
    /// Every how many trips one was timed on its own.
    pub timed_every: u64,
}

impl<E, P> Task<'_, E, P> {
    /// Bytes of message `number` on its way there, or of its answer.
    #[inline]
    fn bytes_of(&self, number: u64, way: Way) -> usize {
        match (way, self.answer) {
            (Way::Back, Answer::Own(bytes)) => bytes,
            (Way::There, _) | (Way::Back, Answer::Echo) => self.extent.bytes_of(number),
        }
    }

    /// What an answer is stamped as: an echo still is the message it answers.
    #[inline]
    fn answered_as(&self) -> Way {
        match self.answer {
            Answer::Own(_) => Way::Back,
            Answer::Echo => Way::There,
        }
    }

    /// Has the end send what it still holds back.
    pub(crate) fn flush(&mut self) -> Result<(), Failure>
    where
        E: Endpoint,
    {
        self.end.flush().map_err(|errno| transfer::call_failed("send", 0, errno))
    }
}

/// A workload: what each party does in one phase. Start and end of the clock go to
/// [`Control::begin`] and [`Control::finish`].
pub trait Workload {
    /// How much a run of `total_bytes` moves.
    fn extent(buffer_bytes: usize, total_bytes: u64) -> Extent;

    /// The party that sends, or starts each round trip.
    ///
    /// # Errors
    /// The first call that failed or message that was wrong.
    fn send<E: Endpoint, P: Payload>(task: &mut Task<'_, E, P>) -> Result<(), Failure>;

    /// The party that receives, or answers.
    ///
    /// # Errors
    /// As for [`Workload::send`].
    fn receive<E: Endpoint, P: Payload>(task: &mut Task<'_, E, P>) -> Result<(), Failure>;

    /// One thread that plays both; `receiver` is the other end.
    ///
    /// # Errors
    /// As for [`Workload::send`].
    fn both<E: Endpoint, P: Payload>(
        task: &mut Task<'_, E, P>,
        receiver: &mut E,
    ) -> Result<(), Failure>;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_kind_is_listed_under_its_serialised_name() {
        for kind in [Kind::Stream, Kind::RoundTrip, Kind::RequestReply] {
            let word = serde_json::to_value(kind).unwrap();
            assert_eq!(word, kind.name());
        }
    }

    proptest! {
        #[test]
        fn an_extent_of_a_total_moves_exactly_that(buffer in 1_usize..100_000, total in 1_u64..1 << 40) {
            let extent = Extent::of_total(buffer, total);
            prop_assert_eq!(extent.total_bytes(), total);
            prop_assert!(extent.last_bytes >= 1 && extent.last_bytes <= buffer);
        }
    }
}
