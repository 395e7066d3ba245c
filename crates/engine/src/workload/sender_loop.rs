//! The schedule of a paced sender: when each message is due, and how late it was sent.

use ipcperf_model::pacing::{Pacer, Pacing};

use super::latency_recorder::ScheduleStart;
use super::pacer::{Delays, Punctuality, Waiting, WaitingTimes};
use super::schedule::Schedule;
use super::send_times::SendStamp;
use crate::clock::{now_ns, ticks};
use crate::platform::thread;
use crate::shared_state::Control;

/// Duration of a run, as a multiple of its schedule, after which the sender gives up.
const MAX_STRETCH: f64 = 2.0;
/// Time from the announcement of a schedule to its start, ns: enough for the sender to enter its loop.
const LEAD_NS: f64 = 20_000.0;

/// Schedule, waiting and records of a sender.
pub(super) struct SenderLoop<'a> {
    /// Start of the schedule.
    pub(super) start: ScheduleStart,
    schedule: Schedule,
    waiting: Waiting,
    delays: &'a mut Delays,
    /// Delay of the last message, ticks. It is recorded after the message has been sent, which it would delay.
    last_delay: Option<(Punctuality, u64)>,
    controls: Vec<&'a Control>,
    next: u64,
    messages: u64,
    /// Time after which no further message is sent, ticks.
    give_up: u64,
}

impl<'a> SenderLoop<'a> {
    /// Starts the schedule.
    pub(super) fn begin(
        pacing: &Pacing,
        delays: &'a mut Delays,
        controls: Vec<&'a Control>,
    ) -> Self {
        if pacing.pacer == Pacer::Sleep {
            thread::minimize_timer_slack();
        }
        let ns_per_tick = controls[0].ns_per_tick();
        let began_ns = now_ns();
        let now = ScheduleStart { ticks: ticks(), ns_per_tick };
        let start = ScheduleStart { ticks: now.after(LEAD_NS), ns_per_tick };
        for control in &controls {
            control.begin(began_ns);
            control.begin_schedule(start.ticks);
        }
        #[allow(clippy::cast_precision_loss, reason = "seconds in ns")]
        let give_up = start.after(pacing.duration_ns() as f64 * MAX_STRETCH);
        Self {
            start,
            schedule: Schedule::new(pacing),
            waiting: Waiting::new(pacing.pacer, ns_per_tick),
            delays,
            last_delay: None,
            controls,
            next: 0,
            messages: pacing.messages,
            give_up,
        }
    }

    /// Waits until the next message is due, and returns its stamp; `None` after the last one.
    pub(super) fn wait(&mut self) -> Option<SendStamp> {
        self.record_last_delay();
        if self.next >= self.messages {
            return None;
        }
        let due = self.start.after(self.schedule.next_ns());
        let (sent, punctuality) = self.waiting.until(due);
        let number = self.next;
        self.next += 1;
        if punctuality == Punctuality::Behind && sent > self.give_up && self.next < self.messages {
            self.messages = self.next;
            self.controls.iter().for_each(|control| control.shorten_schedule(self.messages));
        }
        self.last_delay = Some((punctuality, sent.saturating_sub(due).max(1)));
        Some(SendStamp { number, sent, is_in_gap: punctuality == Punctuality::InGap })
    }

    fn record_last_delay(&mut self) {
        if let Some((punctuality, delay)) = self.last_delay.take() {
            self.delays.record(punctuality, delay);
        }
    }

    /// Returns the number of messages that were sent, and the times spent waiting.
    pub(super) fn finish(self) -> (u64, WaitingTimes) {
        (self.next, self.waiting.times())
    }
}
