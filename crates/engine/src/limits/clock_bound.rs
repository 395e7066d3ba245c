//! Bound on the difference between the time stamp counters of two CPUs.
//!
//! The leader reads its counter, asks the follower for a reading, and reads its own again. The follower's reading lies
//! between the other two, so each round trip bounds the difference from both sides, and the shortest ones bound it best
//! (Cristian 1989).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::thread::sched_yield;

use crate::clock::{now_ns, ticks, ticks_after_loads};

/// Number of round trips.
const TRIPS: u64 = 2_000;
/// Time after which the leader stops, whatever it has measured.
const MAX_TIME: Duration = Duration::from_millis(10);
/// Question that ends the measurement.
const STOP: u64 = u64::MAX;
/// Polls before yielding, since the other side may be waiting for this CPU.
const MAX_POLLS: u32 = 1 << 15;

#[derive(Debug, Default)]
#[repr(C, align(128))]
struct Line(AtomicU64);

/// Memory that both peers share. All zero is the initial state.
#[derive(Debug, Default)]
#[repr(C)]
pub struct ClockLines {
    /// Number of the round trip, from 1.
    question: Line,
    /// Reading of the follower's counter.
    reading: Line,
    /// Number of the round trip that the reading belongs to.
    answer: Line,
}

impl ClockLines {
    /// Resets the memory; called by the leader before the two meet.
    pub fn reset(&self) {
        self.question.0.store(0, Ordering::Relaxed);
        self.answer.0.store(0, Ordering::Relaxed);
    }
}

/// Bound on the follower's counter minus that of the leader, ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockBound {
    low: i64,
    high: i64,
}

impl ClockBound {
    /// Uncertainty of a time between the two CPUs, ticks: half the width of the bound, or the larger end of a bound that
    /// does not contain 0.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "some thousand ticks")]
    pub fn uncertainty(self) -> f64 {
        let half = self.high.abs_diff(self.low) as f64 / 2.0;
        let contains_zero = self.low <= 0 && self.high >= 0;
        let farther = self.low.unsigned_abs().max(self.high.unsigned_abs()) as f64;
        if contains_zero { half } else { farther }
    }

    /// Narrows the bound to that of a round trip in which the follower read `reading` between `before` and `after`.
    fn narrow(self, before: u64, reading: u64, after: u64) -> Self {
        Self {
            low: self.low.max(reading.wrapping_sub(after).cast_signed()),
            high: self.high.min(reading.wrapping_sub(before).cast_signed()),
        }
    }
}

/// Bounds the difference against a thread in [`follow`]; `None` if no round trip ended in time.
#[must_use]
pub fn lead(lines: &ClockLines) -> Option<ClockBound> {
    let end_ns = now_ns() + u64::try_from(MAX_TIME.as_nanos()).unwrap_or(u64::MAX / 2);
    let widest = ClockBound { low: i64::MIN, high: i64::MAX };
    let mut bound = widest;
    for trip in 1..=TRIPS {
        match round_trip(lines, trip, end_ns) {
            Some([before, reading, after]) => bound = bound.narrow(before, reading, after),
            None => break,
        }
    }
    lines.question.0.store(STOP, Ordering::Release);
    (bound != widest).then_some(bound)
}

/// Makes round trip `trip`, and returns the three readings; `None` after `end_ns`.
fn round_trip(lines: &ClockLines, trip: u64, end_ns: u64) -> Option<[u64; 3]> {
    let before = ticks();
    lines.question.0.store(trip, Ordering::Release);
    while !poll(&lines.answer.0, trip) {
        if now_ns() > end_ns {
            return None;
        }
    }
    let after = ticks_after_loads();
    (now_ns() <= end_ns).then(|| [before, lines.reading.0.load(Ordering::Relaxed), after])
}

/// Answers a thread in [`lead`] until it stops.
pub fn follow(lines: &ClockLines) {
    let mut next = 1;
    loop {
        if !poll(&lines.question.0, next) {
            continue;
        }
        let reading = ticks_after_loads();
        if lines.question.0.load(Ordering::Acquire) == STOP {
            return;
        }
        lines.reading.0.store(reading, Ordering::Relaxed);
        lines.answer.0.store(next, Ordering::Release);
        next += 1;
    }
}

/// Polls `line` until it has `number` or a higher one; returns false after [`MAX_POLLS`] polls and a yield.
#[inline]
fn poll(line: &AtomicU64, number: u64) -> bool {
    for _ in 0..MAX_POLLS {
        if line.load(Ordering::Acquire) >= number {
            return true;
        }
    }
    sched_yield();
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threads_agree_on_the_time() {
        let lines = ClockLines::default();
        for _ in 0..2 {
            lines.reset();
            let bound = std::thread::scope(|scope| {
                scope.spawn(|| follow(&lines));
                lead(&lines)
            });
            assert!(bound.is_none_or(|bound| bound.low <= bound.high), "{bound:?}");
        }
    }

    #[test]
    fn a_bound_without_zero_is_as_uncertain_as_its_far_end() {
        let around = ClockBound { low: -30, high: 50 };
        assert!((around.uncertainty() - 40.0).abs() < 1e-9);
        assert!((ClockBound { low: 100, high: 120 }.uncertainty() - 120.0).abs() < 1e-9);
        assert!((ClockBound { low: -120, high: -100 }.uncertainty() - 120.0).abs() < 1e-9);
    }

    #[test]
    fn the_shortest_trips_bound_best() {
        let widest = ClockBound { low: i64::MIN, high: i64::MAX };
        let bound = widest.narrow(100, 150, 400).narrow(1_000, 1_300, 1_340);
        assert_eq!(bound, ClockBound { low: -40, high: 50 });
    }

    #[test]
    fn a_peer_that_never_answers_times_out() {
        assert_eq!(lead(&ClockLines::default()), None);
    }
}
