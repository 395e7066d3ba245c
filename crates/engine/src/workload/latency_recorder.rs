//! Latencies of the messages of a paced run, from their schedule and from their actual send, and the backlog.

use ipcperf_model::pacing::Pacing;

use super::schedule::{CHECKPOINTS, Schedule};
use super::send_times::SendStamp;
use super::slow_messages::{MessageTimes, SlowMessages};
use crate::histogram::TickHistogram;

/// Histograms of latencies, allocated and touched before the timed region, ticks.
#[derive(Debug)]
pub struct LatencyHistograms {
    /// From the time at which a message was due.
    pub from_schedule: TickHistogram,
    /// The same, of the messages that were not due in a gap of their sender.
    pub outside_gaps: TickHistogram,
    /// From the time at which it was sent.
    pub from_send: TickHistogram,
    /// The slowest messages.
    pub slow: SlowMessages,
}

impl LatencyHistograms {
    /// Creates empty histograms and a place for the `slow` slowest messages, with all of their memory present.
    #[must_use]
    pub fn new_touched(slow: usize) -> Self {
        Self {
            from_schedule: TickHistogram::new_touched(),
            outside_gaps: TickHistogram::new_touched(),
            from_send: TickHistogram::new_touched(),
            slow: SlowMessages::new_touched(slow),
        }
    }

    /// Discards all recorded values.
    pub fn clear(&mut self) {
        self.from_schedule.clear();
        self.outside_gaps.clear();
        self.from_send.clear();
        self.slow.clear();
    }
}

/// Start of a schedule, and the length of its ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScheduleStart {
    /// Time zero of the schedule, ticks.
    pub ticks: u64,
    /// Length of a tick, ns.
    pub ns_per_tick: f64,
}

impl ScheduleStart {
    /// Time `ns` after the start, ticks.
    #[inline]
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive time of seconds"
    )]
    pub(super) fn after(&self, ns: f64) -> u64 {
        self.ticks + (ns / self.ns_per_tick) as u64
    }
}

/// Arrivals of a run, against its schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrivalCounts {
    /// Number of messages that have arrived.
    pub arrived: u64,
    /// Number that had arrived at each quarter of the schedule.
    pub at_checkpoints: [u64; CHECKPOINTS],
    /// Time of the last arrival, ticks.
    pub last: u64,
}

/// Records arrivals.
#[derive(Debug)]
pub(super) struct LatencyRecorder<'a> {
    schedule: Schedule,
    histograms: &'a mut LatencyHistograms,
    /// Times of the checkpoints, ns after the start of the schedule.
    checkpoints_ns: [f64; CHECKPOINTS],
    /// Index of the next checkpoint.
    next_checkpoint: usize,
    /// Number of the message whose time [`Schedule::next_ns`] draws next.
    drawn: u64,
    counts: ArrivalCounts,
}

impl<'a> LatencyRecorder<'a> {
    /// Creates a recorder for the schedule of `pacing` with `checkpoints_ns`.
    pub(super) fn new(
        pacing: &Pacing,
        checkpoints_ns: [f64; CHECKPOINTS],
        histograms: &'a mut LatencyHistograms,
    ) -> Self {
        Self {
            schedule: Schedule::new(pacing),
            histograms,
            checkpoints_ns,
            next_checkpoint: 0,
            drawn: 0,
            counts: ArrivalCounts::default(),
        }
    }

    /// Records that the message of `stamp`, of a schedule that began at `start`, arrived at `now`. Numbers ascend; those
    /// that are skipped were lost.
    pub(super) fn record(&mut self, start: ScheduleStart, stamp: SendStamp, now: u64) {
        let mut due_ns = 0.0;
        while self.drawn <= stamp.number {
            due_ns = self.schedule.next_ns();
            self.drawn += 1;
        }
        let due = start.after(due_ns);
        let latency = now.saturating_sub(due).max(1);
        self.histograms.from_schedule.record(latency);
        if !stamp.is_in_gap {
            self.histograms.outside_gaps.record(latency);
        }
        self.histograms.from_send.record(now.saturating_sub(stamp.sent).max(1));
        self.histograms.slow.offer(MessageTimes {
            latency,
            number: stamp.number,
            sent: stamp.sent,
            arrived: now,
            previous_arrived: self.counts.last,
            is_in_gap: stamp.is_in_gap,
        });
        while let Some(checkpoint_ns) = self.checkpoints_ns.get(self.next_checkpoint) {
            if now <= start.after(*checkpoint_ns) {
                break;
            }
            self.counts.at_checkpoints[self.next_checkpoint] = self.counts.arrived;
            self.next_checkpoint += 1;
        }
        self.counts.arrived += 1;
        self.counts.last = now;
    }

    /// Returns the counts.
    #[must_use]
    pub(super) fn counts(&self) -> ArrivalCounts {
        let mut counts = self.counts;
        // All messages arrived before these points in time, or none did at all.
        counts.at_checkpoints[self.next_checkpoint..].fill(counts.arrived);
        counts
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::pacing::{Arrivals, Pacer};

    use super::*;

    const GAP: u64 = 1_000_000;

    /// Records the messages `numbers` of a schedule of 8, each `delay` ticks after it was due and `delay` / 2 after it was
    /// sent.
    fn recorded(numbers: &[u64], delay: u64) -> (ArrivalCounts, LatencyHistograms) {
        let pacing = Pacing {
            rate_per_s: 1_000,
            arrivals: Arrivals::Even,
            pacer: Pacer::Spin,
            messages: 8,
            seed: 1,
        };
        let start = ScheduleStart { ticks: 5_000, ns_per_tick: 1.0 };
        let mut histograms = LatencyHistograms::new_touched(2);
        let checkpoints_ns = Schedule::new(&pacing).checkpoints_ns(8);
        let mut recorder = LatencyRecorder::new(&pacing, checkpoints_ns, &mut histograms);
        for &number in numbers {
            let mut schedule = Schedule::new(&pacing);
            let due = (0..=number).map(|_| start.after(schedule.next_ns())).last().unwrap();
            let stamp = SendStamp { number, sent: due + delay / 2, is_in_gap: number == 3 };
            recorder.record(start, stamp, due + delay);
        }
        (recorder.counts(), histograms)
    }

    #[test]
    fn both_latencies_of_every_message_are_recorded() {
        let (counts, histograms) = recorded(&[0, 1, 2, 3, 4, 5, 6, 7], 1_000);
        assert_eq!((counts.arrived, counts.at_checkpoints), (8, [1, 3, 5, 7]));
        assert_eq!(histograms.from_schedule.latencies(1.0).unwrap().max_ns, 1_000);
        assert_eq!(histograms.from_send.latencies(1.0).unwrap().max_ns, 500);
        let slow: Vec<_> = histograms.slow.sorted();
        assert_eq!(slow.iter().map(|message| message.number).collect::<Vec<_>>(), [7, 6]);
        assert_eq!(slow[0].sent - slow[1].sent, GAP);
        assert_eq!(slow[0].previous_arrived, slow[1].arrived);
        let [all, outside_gaps] = [&histograms.from_schedule, &histograms.outside_gaps];
        assert_eq!((all.delays(1.0).messages, outside_gaps.delays(1.0).messages), (8, 7));
    }

    #[test]
    fn lost_messages_do_not_shift_the_schedule() {
        let (counts, histograms) = recorded(&[0, 3, 7], 1_000);
        assert_eq!(counts.arrived, 3);
        assert_eq!(histograms.from_schedule.latencies(1.0).unwrap().max_ns, 1_000);
    }

    #[test]
    fn what_has_not_arrived_by_a_checkpoint_is_in_the_backlog() {
        let (counts, _) = recorded(&[0, 1, 2, 3, 4, 5, 6, 7], 3 * GAP + 500);
        assert_eq!(counts.at_checkpoints, [0, 0, 2, 4]);
        assert_eq!(recorded(&[], 0).0, ArrivalCounts::default());
    }
}
