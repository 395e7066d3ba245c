//! Limits how many calls of a stream are in flight: the daemon and the library queue without bound.

use super::Reply;

/// Maximum number of calls in flight.
const MAX_CALLS: u64 = 16;
/// Maximum number of bytes in flight; two messages are always allowed.
const MAX_BYTES: u64 = 64 << 20;

/// State of the calls of a stream. The last of every `most / 2` calls asks for a reply. Replies come in
/// order, and each acknowledges all calls up to its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Maximum number of calls in flight, even.
    max_calls: u64,
    sent: u64,
    acknowledged: u64,
}

impl Window {
    pub(super) fn with_message_bytes(bytes: u64) -> Self {
        let most = (MAX_BYTES / bytes.max(1)).clamp(2, MAX_CALLS) & !1;
        Self { max_calls: most, sent: 0, acknowledged: 0 }
    }

    /// Returns the maximum number of calls in flight.
    #[allow(clippy::cast_possible_truncation, reason = "16 at most")]
    pub(super) const fn max_calls(&self) -> usize {
        self.max_calls as usize
    }

    pub(super) const fn is_full(&self) -> bool {
        self.sent - self.acknowledged >= self.max_calls
    }

    /// Counts a reply that has arrived.
    pub(super) const fn acknowledge(&mut self) {
        self.acknowledged += self.max_calls / 2;
    }

    /// Counts the next call and returns whether it asks for a reply.
    pub(super) fn record_call(&mut self) -> Reply {
        self.sent += 1;
        let is_reply_requested = self.sent.is_multiple_of(self.max_calls / 2);
        if is_reply_requested { Reply::Requested } else { Reply::NotRequested }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_eighth_of_sixteen_asks() {
        let mut window = Window::with_message_bytes(64);
        let asked: Vec<bool> = (0..16).map(|_| window.record_call() == Reply::Requested).collect();
        assert_eq!(asked.iter().filter(|&&is_asked| is_asked).count(), 2);
        assert!(asked[7] && asked[15] && window.is_full());
        window.acknowledge();
        assert!(!window.is_full());
    }

    proptest! {
        /// A sender that waits because the window is full has a reply to wait for.
        #[test]
        fn a_full_window_has_a_reply_to_come(bytes in 0_u64..1 << 28, calls in 1_u64..200) {
            let (mut window, mut to_come) = (Window::with_message_bytes(bytes), 0_u64);
            for _ in 0..calls {
                while window.is_full() {
                    prop_assert!(to_come > 0);
                    to_come -= 1;
                    window.acknowledge();
                }
                to_come += u64::from(window.record_call() == Reply::Requested);
                let out = window.sent - window.acknowledged;
                prop_assert!(out <= MAX_CALLS && (out <= 2 || out * bytes <= MAX_BYTES));
            }
        }
    }
}
