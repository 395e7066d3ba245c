//! A cache line there and back between two CPUs: the floor under every round trip.
//!
//! Two parties bounce a counter between two lines, looking without pause. The figure is the median
//! over batches, so that an interruption of either side does not count.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::now_ns;

/// Round trips between two readings of the clock.
const BATCH: u64 = 100;
/// Set in the counter to end the bouncing.
const STOP: u64 = 1 << 63;

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

/// Bounces for `duration` against a party in [`follow`], and returns the median round trip in ns.
#[must_use]
pub fn lead(lines: &Lines, duration: Duration) -> f64 {
    let end = now_ns() + u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let mut batches = Vec::with_capacity(4096);
    let (mut count, mut last) = (0, now_ns());
    while last < end && batches.len() < batches.capacity() {
        for _ in 0..BATCH {
            count += 1;
            bounce(lines, count);
        }
        let now = now_ns();
        batches.push(now - last);
        last = now;
    }
    bounce(lines, STOP);
    lines.ping.0.store(0, Ordering::Relaxed);
    lines.pong.0.store(0, Ordering::Relaxed);
    median(&mut batches)
}

#[inline]
fn bounce(lines: &Lines, count: u64) {
    lines.ping.0.store(count, Ordering::Release);
    while lines.pong.0.load(Ordering::Acquire) != count {}
}

#[allow(clippy::cast_precision_loss, reason = "milliseconds in ns")]
fn median(batches: &mut [u64]) -> f64 {
    batches.sort_unstable();
    batches[batches.len() / 2] as f64 / BATCH as f64
}

/// Answers a party in [`lead`] until it stops.
pub fn follow(lines: &Lines) {
    let mut last = 0;
    while last != STOP {
        let count = lines.ping.0.load(Ordering::Acquire);
        if count != last {
            lines.pong.0.store(count, Ordering::Release);
            last = count;
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
            let trip_ns = std::thread::scope(|scope| {
                scope.spawn(|| follow(&lines));
                lead(&lines, Duration::from_millis(5))
            });
            assert!(trip_ns > 1.0, "{trip_ns}");
        }
    }
}
