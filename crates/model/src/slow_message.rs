//! The slowest messages of a paced run, whose delays an instrument explains.

use serde::{Deserialize, Serialize};

/// Maximum number of messages that a run keeps.
pub const MAX_SLOW_MESSAGES: u64 = 10_000;
/// Minimum number, as long as the run has as many.
const MIN_SLOW_MESSAGES: u64 = 20;

/// Returns how many of `messages` are kept: those above the 99th percentile.
#[must_use]
pub fn slow_message_count(messages: u64) -> usize {
    let count = (messages / 100).clamp(MIN_SLOW_MESSAGES, MAX_SLOW_MESSAGES);
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// One slow message. Times are on the monotonic clock of the machine, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowMessage {
    /// Number of the message, from 0.
    pub number: u64,
    /// Size of the message, bytes.
    pub bytes: u64,
    /// Time at which it was due.
    pub due_ns: u64,
    /// Time at which its sender began to send it.
    pub sent_ns: u64,
    /// Time at which it, or the answer to it, had arrived.
    pub arrived_ns: u64,
    /// Time at which the message before it had arrived; 0 if none had.
    pub previous_arrived_ns: u64,
    /// Whether it was due while its sender was waiting but did not run.
    pub is_in_gap: bool,
}

impl SlowMessage {
    /// Time from when the message was due to its arrival, ns.
    #[must_use]
    pub const fn latency_ns(&self) -> u64 {
        self.arrived_ns.saturating_sub(self.due_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_above_the_99th_percentile_are_kept_within_limits() {
        let counts = [100, 2_000, 100_000, 10_000_000].map(slow_message_count);
        assert_eq!(counts, [20, 20, 1_000, 10_000]);
    }
}
