//! Round trip of a cache line between two CPUs: the lower bound of every message round trip.
//!
//! Two threads bounce a counter between two cache lines, polling without pause. The duration depends on the addresses
//! of the lines: each line has its home in some slice of the last-level cache, nearer to one CPU or the other, and the
//! slices differ by half as much again. A single pair of lines would measure chance, so the bouncing moves on to the
//! next of `PAIRS` after each batch. The figure is the mean over the pairs of the median over each pair's batches.
//! Batches in which either side was interrupted do not count.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::thread::sched_yield;

use super::error::LimitError;
use super::median::median;
use super::threads::{PairMeasurement, run_pair};
use crate::clock::now_ns;

/// Number of pairs of lines, used in turn. Physical addresses are random, so the standard error of the mean is the
/// scatter between pairs divided by the square root of this number.
const PAIRS: usize = 64;
/// Round trips on one pair between two readings of the clock.
const BATCH: u64 = 50;
/// Value of the counter that ends the bouncing.
const STOP: u64 = 1 << 63;
/// Polls before yielding: some tens of microseconds, a hundred times the latency of a distant line.
const MAX_POLLS: u32 = 1 << 15;
/// Maximum number of recorded batches.
const MAX_BATCHES: usize = 8192;

/// Round trip below which two CPUs count as sharing a cache, ns. About the geometric mean of two measured values: 46 ns
/// within a cache and 375 ns across caches.
pub const CLOSE_BELOW_NS: f64 = 120.0;

#[derive(Debug, Default)]
#[repr(C, align(128))]
struct ProbeLine(AtomicU64);

#[derive(Debug, Default)]
#[repr(C)]
struct ProbeLinePair {
    ping: ProbeLine,
    pong: ProbeLine,
}

/// Cache lines in memory that both peers share. All zero is the initial state.
#[derive(Debug)]
#[repr(C)]
pub struct ProbeLines {
    pairs: [ProbeLinePair; PAIRS],
}

impl Default for ProbeLines {
    fn default() -> Self {
        Self { pairs: std::array::from_fn(|_| ProbeLinePair::default()) }
    }
}

impl ProbeLines {
    /// Resets the lines; called by the leader before the two meet.
    pub fn reset(&self) {
        for pair in &self.pairs {
            pair.ping.0.store(0, Ordering::Relaxed);
            pair.pong.0.store(0, Ordering::Relaxed);
        }
    }

    /// Pair of lines for round trip `count`, which starts from 1.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "a remainder below PAIRS")]
    fn pair(&self, count: u64) -> &ProbeLinePair {
        &self.pairs[((count - 1) / BATCH) as usize % PAIRS]
    }

    /// Ends the bouncing, whichever line the other side is polling.
    fn stop(&self) {
        for pair in &self.pairs {
            pair.ping.0.store(STOP, Ordering::Release);
        }
    }
}

/// Bounces for `duration` against a thread in [`follow`]. Returns the round trip in ns: the mean over the pairs of
/// lines of each pair's median. On a busy machine the two may hardly ever run at the same time: returns `None` if not
/// even one batch ended within ten times `duration`.
#[must_use]
pub fn lead(lines: &ProbeLines, duration: Duration) -> Option<f64> {
    let duration_ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 10);
    let mut batches_ns = Vec::with_capacity(MAX_BATCHES);
    let start = now_ns();
    let (mut count, mut last) = (0, start);
    while last - start < duration_ns && batches_ns.len() < MAX_BATCHES {
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

/// Runs one batch of bounces; returns false after `end_ns`.
#[inline]
fn batch(lines: &ProbeLines, count: &mut u64, end_ns: u64) -> bool {
    let pair = lines.pair(*count + 1);
    for _ in 0..BATCH {
        *count += 1;
        pair.ping.0.store(*count, Ordering::Release);
        while !poll_until(&pair.pong.0, |value| value == *count) {
            if now_ns() > end_ns {
                return false;
            }
        }
    }
    true
}

/// Polls `line` for the awaited value. Yields after [`MAX_POLLS`] polls, since the other side may be waiting for this
/// CPU, and returns false.
#[inline]
fn poll_until(line: &AtomicU64, awaited: impl Fn(u64) -> bool) -> bool {
    for _ in 0..MAX_POLLS {
        if awaited(line.load(Ordering::Acquire)) {
            return true;
        }
    }
    sched_yield();
    false
}

/// Mean over the pairs of the median of each pair's batches. Pairs were used in turn. Lines differ by less than a
/// factor of two, so a batch longer than twice the overall median was interrupted. A single one of milliseconds would
/// dominate the mean if each pair had only one turn.
#[allow(clippy::cast_precision_loss, reason = "milliseconds in ns")]
fn round_trip_ns(batches_ns: &[u64]) -> Option<f64> {
    let longest_ns = 2 * median(batches_ns.to_vec())?;
    let of_pair = |pair| batches_ns.iter().skip(pair).step_by(PAIRS).copied();
    let uninterrupted = |pair| of_pair(pair).filter(|&batch_ns| batch_ns <= longest_ns).collect();
    let medians_ns: Vec<u64> = (0..PAIRS).filter_map(|pair| median(uninterrupted(pair))).collect();
    let total_ns: u64 = medians_ns.iter().sum();
    Some(total_ns as f64 / (medians_ns.len() as u64 * BATCH) as f64)
}

/// Answers a thread in [`lead`] until it stops.
pub fn follow(lines: &ProbeLines) {
    let mut next = 1;
    loop {
        let pair = lines.pair(next);
        // Values from an earlier turn are less than `next`.
        if !poll_until(&pair.ping.0, |value| value >= next) {
            continue;
        }
        if pair.ping.0.load(Ordering::Acquire) == STOP {
            return;
        }
        pair.pong.0.store(next, Ordering::Release);
        next += 1;
    }
}

struct CachelineMeasurement {
    lines: ProbeLines,
    duration: Duration,
}

impl PairMeasurement for CachelineMeasurement {
    type Output = Option<f64>;

    fn lead(&self) -> Result<Option<f64>, LimitError> {
        Ok(lead(&self.lines, self.duration))
    }

    fn follow(&self) {
        follow(&self.lines);
    }

    fn stop(&self) {
        self.lines.stop();
    }
}

/// Round trip of a cache line between `cpus`, ns, measured with [`lead`] by two threads of this process.
///
/// # Errors
/// Returns an error if threads on `cpus` are not available, or if not one batch ended within ten times `duration`.
pub fn round_trip_between_ns(cpus: [u32; 2], duration: Duration) -> Result<f64, LimitError> {
    let bouncing = CachelineMeasurement { lines: ProbeLines::default(), duration };
    let after = 10 * duration;
    // The leader gives up by itself; it is stopped only if it does not even get to run.
    run_pair(cpus, 2 * after, &bouncing)?.ok_or(LimitError::TooBusy { after })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn two_threads_bounce_twice_over_the_same_lines() {
        let lines = ProbeLines::default();
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
        let lines = ProbeLines::default();
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
    fn a_peer_that_never_answers_times_out() {
        assert_eq!(lead(&ProbeLines::default(), Duration::from_millis(1)), None);
    }
}
