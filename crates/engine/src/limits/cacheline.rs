//! A cache line there and back between two CPUs: the floor under every round trip.
//!
//! Two parties bounce a counter between two lines, looking without pause. The figure is the median
//! over batches, so that an interruption of either side does not count.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::thread::sched_yield;

use crate::clock::now_ns;

/// Round trips between two readings of the clock.
const BATCH: u64 = 100;
/// The counter's value that ends the bouncing.
const STOP: u64 = 1 << 63;
/// Looks before giving way: some tens of microseconds, a hundred times what a far line takes.
const LOOKS: u32 = 1 << 15;

#[derive(Debug, Default)]
#[repr(C, align(128))]
struct Line(AtomicU64);

/// The two lines, in memory both parties share.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Lines {
    ping: Line,
    pong: Line,
}

impl Lines {
    /// Makes ready; called by the party that will lead, before the two meet.
    pub fn reset(&self) {
        self.ping.0.store(0, Ordering::Relaxed);
        self.pong.0.store(0, Ordering::Relaxed);
    }
}

/// Bounces for `duration` against a party in [`follow`], and returns the median round trip in ns.
/// On a busy machine the two may hardly ever run at the same time: `None` where not even one batch
/// came to an end within ten times `duration`.
#[must_use]
pub fn lead(lines: &Lines, duration: Duration) -> Option<f64> {
    let duration_ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 10);
    let start = now_ns();
    let mut batches = Vec::with_capacity(4096);
    let (mut count, mut last) = (0, start);
    while last - start < duration_ns && batches.len() < batches.capacity() {
        if !batch(lines, &mut count, start + 10 * duration_ns) {
            break;
        }
        let now = now_ns();
        batches.push(now - last);
        last = now;
    }
    lines.ping.0.store(STOP, Ordering::Release);
    median(&mut batches)
}

/// One batch of bounces; false once it is later than `end_ns`.
#[inline]
fn batch(lines: &Lines, count: &mut u64, end_ns: u64) -> bool {
    for _ in 0..BATCH {
        *count += 1;
        lines.ping.0.store(*count, Ordering::Release);
        while !comes(&lines.pong.0, |value| value == *count) {
            if now_ns() > end_ns {
                return false;
            }
        }
    }
    true
}

/// Looks at `line` without pause for what it waits for, and gives way if that is long in coming:
/// the other party may be waiting for this CPU.
#[inline]
fn comes(line: &AtomicU64, awaited: impl Fn(u64) -> bool) -> bool {
    for _ in 0..LOOKS {
        if awaited(line.load(Ordering::Acquire)) {
            return true;
        }
    }
    sched_yield();
    false
}

#[allow(clippy::cast_precision_loss, reason = "milliseconds in ns")]
fn median(batches: &mut [u64]) -> Option<f64> {
    batches.sort_unstable();
    batches.get(batches.len() / 2).map(|&batch_ns| batch_ns as f64 / BATCH as f64)
}

/// Answers a party in [`lead`] until it stops.
pub fn follow(lines: &Lines) {
    let mut last = 0;
    while last != STOP {
        if comes(&lines.ping.0, |value| value != last) {
            last = lines.ping.0.load(Ordering::Acquire);
            lines.pong.0.store(last, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threads_bounce_twice_over_the_same_lines() {
        let lines = Lines::default();
        for _ in 0..2 {
            lines.reset();
            let trip_ns = std::thread::scope(|scope| {
                scope.spawn(|| follow(&lines));
                lead(&lines, Duration::from_millis(5))
            });
            assert!(trip_ns.is_none_or(|ns| ns > 1.0), "{trip_ns:?}");
        }
    }

    #[test]
    fn a_party_that_never_answers_is_given_up() {
        assert_eq!(lead(&Lines::default(), Duration::from_millis(1)), None);
    }
}
