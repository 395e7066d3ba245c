//! Waits until each message of a schedule is due, and records how well that succeeded.
//!
//! A message is *on time* if the sender was waiting for its time and noticed it at once. It is *in a gap* if the sender
//! was waiting but did not run at that time: because of an interrupt, another program, or the host. It is *behind* if the
//! sender was still occupied with the message before it. Only the first two say something about the pacer; the third is a
//! property of the mechanism.

use std::thread::sleep;
use std::time::Duration;

use ipcperf_model::pacing::Pacer;

use crate::clock::{thread_cpu_ns, ticks};
use crate::histogram::TickHistogram;

/// Time between two readings of the clock above which the sender did not run in between, ns. A reading takes about
/// 10 ns; interrupts take 2 µs and more.
const GAP_NS: f64 = 1_000.0;

/// Result of waiting for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Punctuality {
    /// The sender was waiting, and ran.
    OnTime,
    /// The sender was waiting, but did not run.
    InGap,
    /// The sender was occupied with an earlier message.
    Behind,
}

/// Delays of the sends of one class of messages, ticks.
#[derive(Debug)]
pub struct Delays {
    /// Messages that were on time.
    pub on_time: TickHistogram,
    /// Messages in a gap.
    pub in_gap: TickHistogram,
    /// Messages behind another one.
    pub behind: TickHistogram,
}

impl Delays {
    /// Creates empty histograms with all of their memory present.
    #[must_use]
    pub fn new_touched() -> Self {
        let new = TickHistogram::new_touched;
        Self { on_time: new(), in_gap: new(), behind: new() }
    }

    /// Discards all recorded values.
    pub fn clear(&mut self) {
        for delays in [&mut self.on_time, &mut self.in_gap, &mut self.behind] {
            delays.clear();
        }
    }

    /// Records that the send of a message began `delay` ticks after it was due.
    #[inline]
    pub fn record(&mut self, class: Punctuality, delay: u64) {
        match class {
            Punctuality::OnTime => self.on_time.record(delay),
            Punctuality::InGap => self.in_gap.record(delay),
            Punctuality::Behind => self.behind.record(delay),
        }
    }
}

/// Waits for the times of messages.
#[derive(Debug)]
pub(super) struct Waiting {
    pacer: Pacer,
    ns_per_tick: f64,
    gap_ticks: u64,
    /// End of the last gap, ticks.
    gap_end: u64,
    /// Sum of all waiting times, gaps included, ticks.
    waited: u64,
    /// Sum of all gaps, ticks.
    gaps: u64,
    /// CPU time of the sleeps, ns.
    sleep_cpu_ns: u64,
}

/// Times that a sender spent waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WaitingTimes {
    /// All waiting times, gaps included, ns.
    pub total_ns: f64,
    /// Gaps while spinning, ns.
    pub gaps_ns: f64,
    /// CPU time of falling asleep and waking up, ns.
    pub sleep_cpu_ns: u64,
}

impl Waiting {
    /// Creates a waiter whose ticks have `ns_per_tick`.
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "some thousand ticks"
    )]
    pub(super) fn new(pacer: Pacer, ns_per_tick: f64) -> Self {
        let gap_ticks = (GAP_NS / ns_per_tick) as u64;
        Self { pacer, ns_per_tick, gap_ticks, gap_end: 0, waited: 0, gaps: 0, sleep_cpu_ns: 0 }
    }

    /// Waits until the clock shows `due` ticks. Returns the last reading, after which the message is sent: reading the clock
    /// again would only measure how long it takes to fetch the code in between, which has left the caches while the sender
    /// waited (1 µs at 1,000 messages per second).
    #[inline]
    pub(super) fn until(&mut self, due: u64) -> (u64, Punctuality) {
        let begin = ticks();
        let late = if due <= self.gap_end { Punctuality::InGap } else { Punctuality::Behind };
        if begin >= due {
            return (begin, late);
        }
        let end = match self.pacer {
            Pacer::Spin => self.spin(begin, due),
            Pacer::Sleep => self.sleep(begin, due),
        };
        self.waited += end - begin;
        let is_in_gap = due <= self.gap_end;
        (end, if is_in_gap { Punctuality::InGap } else { Punctuality::OnTime })
    }

    #[inline]
    fn spin(&mut self, begin: u64, due: u64) -> u64 {
        let mut last = begin;
        while last < due {
            let now = ticks();
            if now.saturating_sub(last) > self.gap_ticks {
                self.gaps += now - last;
                self.gap_end = now;
            }
            last = now;
        }
        last
    }

    /// The thread's timer slack must be small: see [`crate::platform::thread::minimize_timer_slack`].
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "seconds in ns"
    )]
    fn sleep(&mut self, begin: u64, due: u64) -> u64 {
        let (mut now, cpu_before_ns) = (begin, thread_cpu_ns());
        while now < due {
            let left_ns = (due - now) as f64 * self.ns_per_tick;
            sleep(Duration::from_nanos(left_ns as u64));
            now = ticks();
        }
        self.sleep_cpu_ns += thread_cpu_ns().saturating_sub(cpu_before_ns);
        now
    }

    /// Returns the times spent waiting so far.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "seconds in ns")]
    pub(super) fn times(&self) -> WaitingTimes {
        WaitingTimes {
            total_ns: self.waited as f64 * self.ns_per_tick,
            gaps_ns: self.gaps as f64 * self.ns_per_tick,
            sleep_cpu_ns: self.sleep_cpu_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::measure_ns_per_tick;

    #[test]
    fn what_is_due_already_is_behind_and_what_is_not_is_waited_for() {
        let ns_per_tick = measure_ns_per_tick(Duration::from_millis(2));
        for pacer in Pacer::ALL {
            let mut waiting = Waiting::new(pacer, ns_per_tick);
            assert_eq!(waiting.until(ticks()).1, Punctuality::Behind);
            let due = ticks() + 2_000_000;
            let (end, punctuality) = waiting.until(due);
            assert_ne!(punctuality, Punctuality::Behind);
            assert!(end >= due && waiting.times().total_ns >= 1e6 * ns_per_tick);
        }
    }

    #[test]
    fn a_message_that_was_due_in_a_gap_is_in_it_however_late_it_is_looked_at() {
        let mut waiting = Waiting::new(Pacer::Spin, 1.0);
        waiting.gap_end = ticks() - 10;
        assert_eq!(waiting.until(waiting.gap_end - 5).1, Punctuality::InGap);
        assert_eq!(waiting.until(waiting.gap_end + 5).1, Punctuality::Behind);
    }

    #[test]
    fn spinning_without_pause_meets_gaps_only_above_the_limit() {
        let mut waiting = Waiting::new(Pacer::Spin, 1.0);
        waiting.gap_ticks = u64::MAX;
        let begin = ticks();
        waiting.spin(begin, begin + 1_000_000);
        assert_eq!(waiting.gaps, 0);
        waiting.gap_ticks = 0;
        waiting.spin(begin, ticks() + 1_000_000);
        assert!(waiting.gaps > 0 && waiting.gap_end > begin);
    }
}
