//! Limits how many calls of a stream are in flight: the daemon and the library queue without bound.

use super::Reply;

/// Maximum number of calls in flight.
const MOST: u64 = 16;
/// Maximum number of bytes in flight; two messages are always allowed.
const MOST_BYTES: u64 = 64 << 20;

/// State of the calls of a stream. The last of every `most / 2` calls asks for a reply. Replies come in
/// order, and each acknowledges all calls up to its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Maximum number of calls in flight, even.
    most: u64,
    sent: u64,
    acknowledged: u64,
}

impl Window {
    pub(super) fn for_messages_of(bytes: u64) -> Self {
        let most = (MOST_BYTES / bytes.max(1)).clamp(2, MOST) & !1;
        Self { most, sent: 0, acknowledged: 0 }
    }

    /// Returns the maximum number of calls in flight.
    #[allow(clippy::cast_possible_truncation, reason = "16 at most")]
    pub(super) const fn most(&self) -> usize {
        self.most as usize
    }

    pub(super) const fn is_full(&self) -> bool {
        self.sent - self.acknowledged >= self.most
    }

    /// Counts a reply that has arrived.
    pub(super) const fn acknowledge(&mut self) {
        self.acknowledged += self.most / 2;
    }

    /// Counts the next call and returns whether it asks for a reply.
    pub(super) fn next(&mut self) -> Reply {
        self.sent += 1;
        let is_asked = self.sent.is_multiple_of(self.most / 2);
        if is_asked { Reply::Asked } else { Reply::NotAsked }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_eighth_of_sixteen_asks() {
        let mut window = Window::for_messages_of(64);
        let asked: Vec<bool> = (0..16).map(|_| window.next() == Reply::Asked).collect();
        assert_eq!(asked.iter().filter(|&&is_asked| is_asked).count(), 2);
        assert!(asked[7] && asked[15] && window.is_full());
        window.acknowledge();
        assert!(!window.is_full());
    }

    proptest! {
        /// A sender that waits because the window is full has a reply to wait for.
        #[test]
        fn a_full_window_has_a_reply_to_come(bytes in 0_u64..1 << 28, calls in 1_u64..200) {
            let (mut window, mut to_come) = (Window::for_messages_of(bytes), 0_u64);
            for _ in 0..calls {
                while window.is_full() {
                    prop_assert!(to_come > 0);
                    to_come -= 1;
                    window.acknowledge();
                }
                to_come += u64::from(window.next() == Reply::Asked);
                let out = window.sent - window.acknowledged;
                prop_assert!(out <= MOST && (out <= 2 || out * bytes <= MOST_BYTES));
            }
        }
    }
}
