//! Explains the slowest messages of a paced run: divides the time from the schedule to the arrival of each among causes.
//!
//! Until a message is sent, what the sender does explains its delay. Then it is the first of receiver, broker and sender
//! that does not sleep: a receiver that sleeps has not been woken yet.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ipcperf_model::SlowMessage;
use ipcperf_model::instrument::sched::{
    CauseShare, DelayCause, DelayPart, ExplainedMessage, LISTED, SlowMessagesRow,
};

use super::activity::{Activity, Doing};
use super::journal::Interruption;
use crate::PacedResult;

/// Lateness of a send below which the sender was not occupied with an earlier message, ns.
const LATE_NS: u64 = 1_000;
/// Time on CPU without any event above which the host probably ran something else: this many medians of the latency
/// from the send, and at least this many ns.
const STEAL_MEDIANS: u64 = 10;
const STEAL_MIN_NS: u64 = 20_000;

/// A cause, and the number of the role in the list of activities; `None` if it concerns none.
type Reason = (DelayCause, Option<usize>);

/// Activities of all roles, and the time from which they are known.
#[derive(Debug)]
pub(super) struct Explainer {
    activities: Vec<Activity>,
    sender: usize,
    /// In the order in which they are asked once a message has been sent.
    downstream: Vec<usize>,
    complete_from_ns: u64,
    /// Time on CPU above which steal is suspected, ns; `None` if messages differ in size, and their work with it.
    steal_ns: Option<u64>,
}

impl Explainer {
    /// Creates an explainer for the messages of `paced`; `None` if there is no role that sends.
    pub(super) fn new(
        activities: Vec<Activity>,
        complete_from_ns: u64,
        paced: &PacedResult,
    ) -> Option<Self> {
        let find = |names: &[&str]| {
            activities.iter().position(|activity| names.contains(&activity.role.as_str()))
        };
        let sender = find(&["sender", "both"])?;
        let downstream = [find(&["receiver", "both"]), find(&["broker"]), Some(sender)];
        let sizes = paced.slow_messages.iter().map(|message| message.bytes);
        let steal_ns = (paced.median_from_send_ns * STEAL_MEDIANS).max(STEAL_MIN_NS);
        let is_one_size = sizes.clone().min() == sizes.max();
        Some(Self {
            sender,
            downstream: downstream.into_iter().flatten().collect(),
            activities,
            complete_from_ns,
            steal_ns: is_one_size.then_some(steal_ns),
        })
    }

    /// Explains all `messages`, the slowest first. The sender began at `origin_ns`.
    pub(super) fn explain_all(&self, messages: &[SlowMessage], origin_ns: u64) -> SlowMessagesRow {
        let known = || messages.iter().filter(|message| message.due_ns >= self.complete_from_ns);
        let explained: Vec<_> = known().map(|message| (message, self.parts(message))).collect();
        SlowMessagesRow {
            slow_messages: messages.len() as u64,
            slow_from_ns: messages.last().map_or(0, SlowMessage::latency_ns),
            unrecorded_messages: (messages.len() - explained.len()) as u64,
            causes: self.shares(explained.iter().map(|(_, parts)| parts)),
            slowest: explained
                .iter()
                .take(LISTED)
                .map(|(message, parts)| self.described(message, parts, origin_ns))
                .collect(),
            unavailable_events: Vec::new(),
        }
    }

    /// Returns the parts of the latency of `message`, the largest first.
    fn parts(&self, message: &SlowMessage) -> Vec<(Reason, u64)> {
        let mut sums = BTreeMap::<Reason, u64>::new();
        for (reason, ns) in self.pieces(message) {
            *sums.entry(self.or_steal(reason, ns)).or_default() += ns;
        }
        let mut parts: Vec<_> = sums.into_iter().collect();
        parts.sort_by_key(|part| Reverse(part.1));
        parts
    }

    /// Returns what happened in the order of time, with lengths, ns.
    fn pieces(&self, message: &SlowMessage) -> Vec<(Reason, u64)> {
        let (from_ns, to_ns) = (message.due_ns, message.arrived_ns);
        let changes = self.activities.iter().flat_map(|one| one.changes(from_ns, to_ns));
        let own = [message.sent_ns, message.previous_arrived_ns].into_iter();
        let mut cuts: Vec<u64> =
            changes.chain(own.filter(|&at_ns| at_ns > from_ns && at_ns < to_ns)).collect();
        cuts.extend([from_ns, to_ns]);
        cuts.sort_unstable();
        cuts.dedup();
        let mut pieces: Vec<(Reason, u64)> = Vec::new();
        for pair in cuts.windows(2) {
            let (reason, ns) = (self.reason(message, pair[0]), pair[1] - pair[0]);
            match pieces.last_mut() {
                Some(last) if last.0 == reason => last.1 += ns,
                _ => pieces.push((reason, ns)),
            }
        }
        pieces
    }

    /// Replaces work that took too long to be work.
    fn or_steal(&self, reason: Reason, ns: u64) -> Reason {
        let is_work = matches!(reason.0, DelayCause::Work | DelayCause::PreviousSend);
        match self.steal_ns {
            Some(limit_ns) if is_work && ns > limit_ns => (DelayCause::StealSuspected, reason.1),
            _ => reason,
        }
    }

    /// Returns what kept `message` from arriving at `at_ns`.
    fn reason(&self, message: &SlowMessage, at_ns: u64) -> Reason {
        if at_ns < message.sent_ns {
            return self.reason_before_send(message, at_ns);
        }
        let asleep = |role: usize| match self.activities[role].at(at_ns).doing {
            Doing::Asleep | Doing::TimedSleep => None,
            doing => Some((role, doing)),
        };
        let Some((role, doing)) = self.downstream.iter().copied().find_map(asleep) else {
            return (DelayCause::AllAsleep, None);
        };
        let is_receiver = role == self.downstream[0] && role != self.sender;
        match doing {
            Doing::Running if is_receiver && at_ns < message.previous_arrived_ns => {
                self.or_interrupted(role, message, at_ns, DelayCause::PeerNotWaiting)
            }
            Doing::Running => self.or_interrupted(role, message, at_ns, DelayCause::Work),
            Doing::RunQueue => (DelayCause::RunQueueDelay, Some(role)),
            Doing::IdleExit => (DelayCause::IdleExit, Some(role)),
            Doing::Stopped | Doing::Asleep | Doing::TimedSleep => (DelayCause::Stopped, Some(role)),
        }
    }

    fn reason_before_send(&self, message: &SlowMessage, at_ns: u64) -> Reason {
        let sender = &self.activities[self.sender];
        let cause = match sender.at(at_ns).doing {
            Doing::RunQueue => DelayCause::RunQueueDelay,
            Doing::IdleExit => DelayCause::IdleExit,
            Doing::Stopped => DelayCause::Stopped,
            Doing::Asleep => DelayCause::ChannelFull,
            // Its timer has expired, but nobody has noticed yet.
            Doing::TimedSleep => match sender.next(at_ns) {
                Some(Doing::IdleExit) => DelayCause::IdleExit,
                _ => DelayCause::StealSuspected,
            },
            Doing::Running => {
                let is_late = message.sent_ns.saturating_sub(message.due_ns) > LATE_NS;
                // If it lost its CPU in the gap, it now sends the messages that became due meanwhile.
                let has_run = sender.at(at_ns).from_ns <= message.due_ns;
                let cause = match is_late {
                    true if message.is_in_gap && has_run => DelayCause::StealSuspected,
                    true => DelayCause::PreviousSend,
                    false => DelayCause::Work,
                };
                return self.or_interrupted(self.sender, message, at_ns, cause);
            }
        };
        (cause, Some(self.sender))
    }

    /// Returns what interrupts the running `role` at `at_ns`, or `otherwise`.
    fn or_interrupted(
        &self,
        role: usize,
        message: &SlowMessage,
        at_ns: u64,
        otherwise: DelayCause,
    ) -> Reason {
        let activity = &self.activities[role];
        let since_ns = activity.at(at_ns).from_ns.max(message.due_ns);
        let cause = match activity.interruption_at(at_ns) {
            Some(Interruption::Softirq) => DelayCause::Softirq,
            Some(Interruption::Interrupt) => DelayCause::Interrupt,
            None if activity.has_fault(since_ns, at_ns) => DelayCause::PageFault,
            None => otherwise,
        };
        (cause, Some(role))
    }

    fn role_name(&self, role: Option<usize>) -> Option<String> {
        role.map(|role| self.activities[role].role.clone())
    }

    fn shares<'a>(&self, all: impl Iterator<Item = &'a Vec<(Reason, u64)>>) -> Vec<CauseShare> {
        let mut sums = BTreeMap::<Reason, (u64, u64)>::new();
        for parts in all {
            for (number, &(reason, ns)) in parts.iter().enumerate() {
                let sum = sums.entry(reason).or_default();
                *sum = (sum.0 + u64::from(number == 0), sum.1 + ns);
            }
        }
        let mut shares: Vec<_> = sums
            .into_iter()
            .map(|((cause, role), (main_cause_of, total_ns))| CauseShare {
                cause,
                role: self.role_name(role),
                main_cause_of,
                total_ns,
            })
            .collect();
        shares.sort_by_key(|share| Reverse((share.main_cause_of, share.total_ns)));
        shares
    }

    fn described(
        &self,
        message: &SlowMessage,
        parts: &[(Reason, u64)],
        origin_ns: u64,
    ) -> ExplainedMessage {
        let part = |&((cause, role), ns): &(Reason, u64)| DelayPart {
            cause,
            role: self.role_name(role),
            ns,
        };
        ExplainedMessage {
            number: message.number,
            bytes: message.bytes,
            due_after_ns: message.due_ns.saturating_sub(origin_ns),
            latency_ns: message.latency_ns(),
            sent_late_ns: message.sent_ns.saturating_sub(message.due_ns),
            parts: parts.iter().map(part).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bpf_layout::Window;
    use super::super::journal::{Event, EventKind};
    use super::*;

    const WINDOW: Window = Window { phase: 1, begin_ns: 1, end_ns: u64::MAX, untracked_events: 0 };
    /// Roles in the order of the tests' journals.
    const ROLES: [&str; 2] = ["sender", "receiver"];

    fn event(at_ns: u64, role: usize, kind: EventKind) -> Event {
        Event { at_ns, role, thread: 0, kind }
    }

    const fn sleeps(state: u64) -> EventKind {
        EventKind::Sleeps { state, call: Some(0) }
    }

    const fn runs(waited_ns: u64, after_idle: bool) -> EventKind {
        EventKind::Runs { waited_ns, after_idle }
    }

    /// Was due at 1,000 µs, sent at once and arrived at 2,000 µs, after one that had arrived before.
    const MESSAGE: SlowMessage = SlowMessage {
        number: 5,
        bytes: 64,
        due_ns: 1_000_000,
        sent_ns: 1_000_100,
        arrived_ns: 2_000_000,
        previous_arrived_ns: 900_000,
        is_in_gap: false,
    };

    fn explained(message: SlowMessage, events: &[Event]) -> ExplainedMessage {
        let activities = ROLES
            .iter()
            .enumerate()
            .map(|(index, role)| Activity::new(role, index, &WINDOW, events));
        let paced = PacedResult { slow_messages: vec![message], median_from_send_ns: 10_000_000 };
        let explainer = Explainer::new(activities.collect(), 0, &paced).unwrap();
        let row = explainer.explain_all(&paced.slow_messages, 0);
        assert_eq!(row.causes.iter().map(|cause| cause.main_cause_of).sum::<u64>(), 1);
        row.slowest[0].clone()
    }

    /// Checks that the largest part of the message's latency has this cause, role and length, and that all parts add up.
    fn check(message: SlowMessage, events: &[Event], cause: DelayCause, role: &str, ns: u64) {
        let seen = explained(message, events);
        let part = DelayPart { cause, role: (!role.is_empty()).then(|| role.to_owned()), ns };
        assert_eq!(seen.parts[0], part, "{:?}", seen.parts);
        let sum: u64 = seen.parts.iter().map(|part| part.ns).sum();
        assert_eq!(sum, seen.latency_ns);
    }

    #[test]
    fn a_woken_receiver_waits_for_its_cpu() {
        for (after_idle, cause) in
            [(false, DelayCause::RunQueueDelay), (true, DelayCause::IdleExit)]
        {
            let events =
                [event(950_000, 1, sleeps(1)), event(1_900_000, 1, runs(800_000, after_idle))];
            check(MESSAGE, &events, cause, "receiver", 800_000);
        }
    }

    #[test]
    fn a_receiver_that_still_works_on_others_is_not_waiting_yet() {
        let busy = SlowMessage { previous_arrived_ns: 1_900_000, ..MESSAGE };
        check(busy, &[], DelayCause::PeerNotWaiting, "receiver", 899_900);
        check(MESSAGE, &[], DelayCause::Work, "receiver", 999_900);
    }

    #[test]
    fn interrupts_and_page_faults_are_told_from_work() {
        use Interruption::{Interrupt, Softirq};
        for (kind, cause) in [(Softirq, DelayCause::Softirq), (Interrupt, DelayCause::Interrupt)] {
            let [begin, end] = [EventKind::Begins(kind), EventKind::Ends(kind)];
            let events = [event(1_100_000, 1, begin), event(1_800_000, 1, end)];
            check(MESSAGE, &events, cause, "receiver", 700_000);
        }
        let fault = [event(1_200_000, 1, EventKind::PageFault)];
        check(MESSAGE, &fault, DelayCause::PageFault, "receiver", 800_000);
    }

    #[test]
    fn what_keeps_the_sender_from_sending_is_its_own_cause() {
        let late = SlowMessage { sent_ns: 1_900_000, ..MESSAGE };
        check(late, &[], DelayCause::PreviousSend, "sender", 900_000);
        let in_gap = SlowMessage { is_in_gap: true, ..late };
        check(in_gap, &[], DelayCause::StealSuspected, "sender", 900_000);
        let full = [event(990_000, 0, sleeps(1)), event(1_850_000, 0, runs(50_000, false))];
        check(late, &full, DelayCause::ChannelFull, "sender", 800_000);
        let preempted =
            [event(990_000, 0, EventKind::Preempted), event(1_850_000, 0, runs(860_000, false))];
        check(late, &preempted, DelayCause::RunQueueDelay, "sender", 850_000);
        let then = explained(SlowMessage { is_in_gap: true, ..late }, &preempted);
        assert_eq!(then.parts[2].cause, DelayCause::PreviousSend);
    }

    #[test]
    fn a_sender_that_oversleeps_was_woken_by_an_idle_cpu_or_not_at_all() {
        let late = SlowMessage { sent_ns: 1_900_000, ..MESSAGE };
        let call = u32::try_from(libc::SYS_clock_nanosleep).ok();
        let asleep = event(500_000, 0, EventKind::Sleeps { state: 1, call });
        let idle = [asleep, event(1_890_000, 0, runs(1_000, true))];
        check(late, &idle, DelayCause::IdleExit, "sender", 890_000);
        let stolen = [asleep, event(1_890_000, 0, runs(1_000, false))];
        check(late, &stolen, DelayCause::StealSuspected, "sender", 889_000);
    }

    #[test]
    fn a_receiver_that_is_stopped_or_waits_for_somebody_else_is_told_apart() {
        let stopped = [event(950_000, 1, sleeps(4)), event(1_990_000, 1, runs(0, false))];
        check(MESSAGE, &stopped, DelayCause::Stopped, "receiver", 989_900);
        let both = [
            event(950_000, 1, sleeps(1)),
            event(1_050_000, 0, sleeps(1)),
            event(1_990_000, 1, runs(10_000, false)),
        ];
        check(MESSAGE, &both, DelayCause::AllAsleep, "", 930_000);
    }

    #[test]
    fn work_of_many_medians_is_suspected_to_be_steal_if_messages_have_one_size() {
        let row = |sizes: [u64; 2]| {
            let messages = sizes.map(|bytes| SlowMessage { bytes, ..MESSAGE });
            let activities = ROLES
                .iter()
                .enumerate()
                .map(|(index, role)| Activity::new(role, index, &WINDOW, &[]));
            let paced =
                PacedResult { slow_messages: messages.to_vec(), median_from_send_ns: 5_000 };
            let explainer = Explainer::new(activities.collect(), 0, &paced).unwrap();
            explainer.explain_all(&messages, 0).causes[0].cause
        };
        assert_eq!(row([64, 64]), DelayCause::StealSuspected);
        assert_eq!(row([64, 128]), DelayCause::Work);
    }

    #[test]
    fn messages_from_before_the_journal_are_counted_only() {
        let early = SlowMessage { due_ns: 999_000, ..MESSAGE };
        let paced =
            PacedResult { slow_messages: vec![MESSAGE, early], median_from_send_ns: 1_000_000 };
        let activities =
            ROLES.iter().enumerate().map(|(index, role)| Activity::new(role, index, &WINDOW, &[]));
        let explainer = Explainer::new(activities.collect(), 1_000_000, &paced).unwrap();
        let row = explainer.explain_all(&paced.slow_messages, 0);
        assert_eq!((row.slow_messages, row.unrecorded_messages, row.slowest.len()), (2, 1, 1));
    }
}
