//! A cache line there and back between two CPUs: the floor under every round trip.
//!
//! Two parties bounce a counter between two lines, looking without pause. How long that takes
//! depends on where the lines lie: each has its home in some slice of the last-level cache, nearer
//! to one CPU or the other, and the slices differ by half as much again. One pair of lines would
//! measure its own luck, so the bouncing moves on to the next of [`PAIRS`] after each batch. The
//! figure is the mean over the pairs of the median over each pair's batches, and batches in which
//! either side was interrupted do not count.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::thread::sched_yield;

use super::median::median;
use super::threads::{Duet, together};
use super::unmeasured::Unmeasured;
use crate::clock::now_ns;

/// Pairs of lines that take turns. Pages lie where they happen to, so chance moves the mean by a
/// pair's own scatter over the root of this.
const PAIRS: usize = 64;
/// Round trips on one pair between two readings of the clock.
const BATCH: u64 = 50;
/// The counter's value that ends the bouncing.
const STOP: u64 = 1 << 63;
/// Looks before giving way: some tens of microseconds, a hundred times what a far line takes.
const LOOKS: u32 = 1 << 15;
/// Batches recorded at most.
const MOST_BATCHES: usize = 8192;

/// Two CPUs whose cache line goes there and back faster than this share a cache, ns. Measured were 46 ns
/// within one and 375 ns across; this is about their geometric mean.
pub const CLOSE_BELOW_NS: f64 = 120.0;

#[derive(Debug, Default)]
#[repr(C, align(128))]
struct Line(AtomicU64);

#[derive(Debug, Default)]
#[repr(C)]
struct Pair {
    ping: Line,
    pong: Line,
}

/// The lines, in memory both parties share. All zero is their initial state.
#[derive(Debug)]
#[repr(C)]
pub struct Lines {
    pairs: [Pair; PAIRS],
}

impl Default for Lines {
    fn default() -> Self {
        Self { pairs: std::array::from_fn(|_| Pair::default()) }
    }
}

impl Lines {
    /// Makes ready; called by the party that will lead, before the two meet.
    pub fn reset(&self) {
        for pair in &self.pairs {
            pair.ping.0.store(0, Ordering::Relaxed);
            pair.pong.0.store(0, Ordering::Relaxed);
        }
    }

    /// The pair whose turn it is in the round trip `count`, which starts from 1.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "a remainder below PAIRS")]
    fn pair(&self, count: u64) -> &Pair {
        &self.pairs[((count - 1) / BATCH) as usize % PAIRS]
    }

    /// Ends the bouncing on whichever line the other party is looking at.
    fn stop(&self) {
        for pair in &self.pairs {
            pair.ping.0.store(STOP, Ordering::Release);
        }
    }
}

/// Bounces for `duration` against a party in [`follow`], and returns the round trip in ns: the mean
/// over the pairs of lines of each one's median. On a busy machine the two may hardly ever run at
/// the same time: `None` where not even one batch came to an end within ten times `duration`.
#[must_use]
pub fn lead(lines: &Lines, duration: Duration) -> Option<f64> {
    let duration_ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 10);
    let mut batches_ns = Vec::with_capacity(MOST_BATCHES);
    let start = now_ns();
    let (mut count, mut last) = (0, start);
    while last - start < duration_ns && batches_ns.len() < MOST_BATCHES {
        if !batch(lines, &mut count, start + 10 * duration_ns) {
            break;
        }
        let now = now_ns();
        batches_ns.push(now - last);
        last = now;
    }
    lines.stop();
    round_trip_ns(&batches_ns)
}

/// One batch of bounces; false once it is later than `end_ns`.
#[inline]
fn batch(lines: &Lines, count: &mut u64, end_ns: u64) -> bool {
    let pair = lines.pair(*count + 1);
    for _ in 0..BATCH {
        *count += 1;
        pair.ping.0.store(*count, Ordering::Release);
        while !comes(&pair.pong.0, |value| value == *count) {
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

/// The mean over the pairs of the median of each one's batches, which took turns. A batch that took
/// more than twice the median of all was interrupted, for lines differ by less: a single one of
/// milliseconds would drown the mean where each pair had but one turn.
#[allow(clippy::cast_precision_loss, reason = "milliseconds in ns")]
fn round_trip_ns(batches_ns: &[u64]) -> Option<f64> {
    let longest_ns = 2 * median(batches_ns.to_vec())?;
    let of_pair = |pair| batches_ns.iter().skip(pair).step_by(PAIRS).copied();
    let undisturbed = |pair| of_pair(pair).filter(|&batch_ns| batch_ns <= longest_ns).collect();
    let medians_ns: Vec<u64> = (0..PAIRS).filter_map(|pair| median(undisturbed(pair))).collect();
    let total_ns: u64 = medians_ns.iter().sum();
    Some(total_ns as f64 / (medians_ns.len() as u64 * BATCH) as f64)
}

/// Answers a party in [`lead`] until it stops.
pub fn follow(lines: &Lines) {
    let mut next = 1;
    loop {
        let pair = lines.pair(next);
        // What lies there from an earlier turn is less than `next`.
        if !comes(&pair.ping.0, |value| value >= next) {
            continue;
        }
        if pair.ping.0.load(Ordering::Acquire) == STOP {
            return;
        }
        pair.pong.0.store(next, Ordering::Release);
        next += 1;
    }
}

struct Bouncing {
    lines: Lines,
    duration: Duration,
}

impl Duet for Bouncing {
    type Measured = Option<f64>;

    fn lead(&self) -> Result<Option<f64>, Unmeasured> {
        Ok(lead(&self.lines, self.duration))
    }

    fn follow(&self) {
        follow(&self.lines);
    }

    fn stop(&self) {
        self.lines.stop();
    }
}

/// A cache line there and back between `cpus`, ns, as [`lead`] has it from two threads of this
/// process.
///
/// # Errors
/// Threads on `cpus` cannot be had, or not one batch came to an end within ten times `duration`.
pub fn round_trip_between_ns(cpus: [u32; 2], duration: Duration) -> Result<f64, Unmeasured> {
    let bouncing = Bouncing { lines: Lines::default(), duration };
    let after = 10 * duration;
    // The leader gives up by itself; only a leader that does not even run is stopped.
    together(cpus, 2 * after, &bouncing)?.ok_or(Unmeasured::TooBusy { after })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
    fn every_pair_has_its_turn_before_the_first_has_another() {
        let lines = Lines::default();
        let turn = |batch: u64| std::ptr::from_ref(lines.pair(batch * BATCH + 1)).addr();
        let pairs: BTreeSet<_> = (0..PAIRS as u64).map(turn).collect();
        assert_eq!(pairs.len(), PAIRS);
        assert_eq!(turn(PAIRS as u64), turn(0));
        assert!(std::ptr::eq(lines.pair(1), lines.pair(BATCH)));
    }

    #[test]
    fn near_and_far_lines_count_alike_and_interruptions_not_at_all() {
        let mut batches_ns = [200 * BATCH, 300 * BATCH].repeat(PAIRS);
        assert_eq!(round_trip_ns(&batches_ns), Some(250.0));
        batches_ns[..PAIRS / 2].fill(4_000_000);
        assert_eq!(round_trip_ns(&batches_ns), Some(250.0));
        // A single round, in which both a near and a far line were interrupted.
        batches_ns[PAIRS / 2..PAIRS / 2 + 2].fill(4_000_000);
        assert_eq!(round_trip_ns(&batches_ns[PAIRS / 2..][..PAIRS]), Some(250.0));
        assert_eq!(round_trip_ns(&[]), None);
    }

    #[test]
    fn a_party_that_never_answers_is_given_up() {
        assert_eq!(lead(&Lines::default(), Duration::from_millis(1)), None);
    }
}
