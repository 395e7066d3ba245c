//! Waits for a word in shared memory to change, on systems without a futex that works between processes.
//!
//! The waiter polls the word: it yields the CPU a few times, and then sleeps for pauses that double from
//! [`FIRST_PAUSE`] to [`MAX_PAUSE`]. So there is nothing to wake: storing another value ends the wait, after one pause
//! at most. A wait therefore ends later than one on a futex, and uses CPU time while it lasts. Linux does not use it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

/// Number of times the waiter yields before its first pause: a peer on the same CPU can answer meanwhile.
const YIELDS: u32 = 32;
/// Length of the first pause.
const FIRST_PAUSE: Duration = Duration::from_micros(20);
/// Length of the longest pause: the delay that a long wait may add.
const MAX_PAUSE: Duration = Duration::from_millis(1);

/// Reason why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// The word has another value than the waiter expected.
    Changed,
    /// The time limit passed.
    TimedOut,
}

/// Waits while `word` is `value`, for `limit` at most; without a limit if that is `None`.
pub fn wait_while(word: &AtomicU32, value: u32, limit: Option<Duration>) -> WaitEnd {
    let end = limit.map(|limit| Instant::now() + limit);
    let (mut yields, mut pause) = (0, FIRST_PAUSE);
    loop {
        if word.load(Ordering::Acquire) != value {
            return WaitEnd::Changed;
        }
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            return WaitEnd::TimedOut;
        }
        if yields < YIELDS {
            yields += 1;
            yield_now();
        } else {
            sleep(pause.min(left.unwrap_or(pause)));
            pause = MAX_PAUSE.min(2 * pause);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_word_that_has_another_value_is_not_waited_for() {
        assert_eq!(wait_while(&AtomicU32::new(7), 1, None), WaitEnd::Changed);
        assert_eq!(wait_while(&AtomicU32::new(7), 1, Some(Duration::ZERO)), WaitEnd::Changed);
    }

    #[test]
    fn a_limit_ends_the_wait_and_not_before_it_has_passed() {
        for limit in [Duration::ZERO, Duration::from_micros(50), Duration::from_millis(5)] {
            let start = Instant::now();
            assert_eq!(wait_while(&AtomicU32::new(1), 1, Some(limit)), WaitEnd::TimedOut);
            assert!(start.elapsed() >= limit);
        }
    }

    #[test]
    fn a_store_ends_the_wait_while_it_yields_and_while_it_sleeps() {
        for delay in [Duration::ZERO, Duration::from_micros(100), Duration::from_millis(10)] {
            let word = AtomicU32::new(1);
            thread::scope(|scope| {
                let waiter = scope.spawn(|| wait_while(&word, 1, None));
                sleep(delay);
                word.store(0, Ordering::Release);
                assert_eq!(waiter.join().unwrap(), WaitEnd::Changed);
            });
        }
    }
}
