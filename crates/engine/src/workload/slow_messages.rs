//! Keeps the slowest messages of a paced run, whose delays an instrument explains.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Times of a message, ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageTimes {
    /// Latency from the schedule. The first field, so that messages are ordered by it.
    pub latency: u64,
    /// Number of the message.
    pub number: u64,
    /// Time at which its sender began to send it.
    pub sent: u64,
    /// Time at which it had arrived.
    pub arrived: u64,
    /// Time at which the message before it had arrived; 0 if none had.
    pub previous_arrived: u64,
    /// Whether it was due in a gap of its sender.
    pub is_in_gap: bool,
}

/// The slowest messages so far.
#[derive(Debug)]
pub struct SlowMessages {
    capacity: usize,
    /// The fastest of them on top.
    kept: BinaryHeap<Reverse<MessageTimes>>,
}

impl SlowMessages {
    /// Creates a place for `capacity` messages, with all of its memory present.
    #[must_use]
    pub fn new_touched(capacity: usize) -> Self {
        let mut kept: BinaryHeap<_> =
            std::iter::repeat_n(Reverse(MessageTimes::default()), capacity).collect();
        kept.clear();
        Self { capacity, kept }
    }

    /// Discards all messages.
    pub fn clear(&mut self) {
        self.kept.clear();
    }

    /// Keeps the message if it is one of the slowest.
    #[inline]
    pub fn offer(&mut self, message: MessageTimes) {
        if self.kept.len() < self.capacity {
            self.kept.push(Reverse(message));
        } else if let Some(mut fastest) = self.kept.peek_mut()
            && message > fastest.0
        {
            *fastest = Reverse(message);
        }
    }

    /// Returns the messages, the slowest first.
    #[must_use]
    pub fn sorted(&self) -> Vec<MessageTimes> {
        let mut messages: Vec<_> = self.kept.iter().map(|one| one.0).collect();
        messages.sort_unstable_by_key(|&message| Reverse(message));
        messages
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_slowest_are_kept(
            latencies in proptest::collection::vec(0_u64..50, 0..200),
            capacity in 0_usize..20,
        ) {
            let mut slow = SlowMessages::new_touched(capacity);
            for (&latency, number) in latencies.iter().zip(0..) {
                slow.offer(MessageTimes { latency, number, ..MessageTimes::default() });
            }
            let kept: Vec<u64> = slow.sorted().iter().map(|message| message.latency).collect();
            let mut all = latencies;
            all.sort_unstable_by_key(|&latency| Reverse(latency));
            all.truncate(capacity);
            prop_assert_eq!(kept, all);
        }
    }
}
