//! What a role did at each moment, from the journal.

use ipcperf_model::instrument_view::State;

use super::bpf_layout::{MAX_THREADS, Window};
use super::journal::{Event, EventKind, Interruption};
use crate::syscall_table::syscall_name;

/// Bits of the kernel's task state: stopped by a signal, or by a debugger.
const STOPPED: u64 = 0x04 | 0x08;

/// State of a role, in more detail than [`State`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    Running,
    /// Ready to run, while its CPU runs something else.
    RunQueue,
    /// Ready to run, while its CPU wakes up.
    IdleExit,
    /// Asleep until a time.
    TimedSleep,
    /// Asleep for any other reason.
    Asleep,
    Stopped,
}

impl Doing {
    pub(super) const fn state(self) -> State {
        match self {
            Self::Running => State::Running,
            Self::RunQueue | Self::IdleExit => State::Runnable,
            Self::TimedSleep | Self::Asleep | Self::Stopped => State::Asleep,
        }
    }

    /// Of several threads, the one that comes first stands for the role.
    const fn rank(self) -> u8 {
        match self.state() {
            State::Running => 0,
            State::Runnable => 1,
            State::Asleep => 2,
        }
    }
}

/// State from a time on, up to the next stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from_ns: u64,
    pub(super) doing: Doing,
}

/// Activity of one role.
#[derive(Clone, Debug, Default)]
pub(super) struct Activity {
    pub(super) role: String,
    /// In the order of time.
    stretches: Vec<Stretch>,
    /// Interrupts of its threads: begin, end and kind, in the order of their begin.
    interruptions: Vec<(u64, u64, Interruption)>,
    /// Times of its page faults.
    faults: Vec<u64>,
}

impl Activity {
    /// Derives the activity of the role with number `index` in `window` from `events`.
    pub(super) fn new(role: &str, index: usize, window: &Window, events: &[Event]) -> Self {
        let is_own = |event: &&Event| event.role == index && event.at_ns >= window.begin_ns;
        let own: Vec<Event> = events.iter().filter(is_own).copied().collect();
        let lines: Vec<Vec<Stretch>> = (0..MAX_THREADS)
            .map(|thread| thread_stretches(&own, thread))
            .filter(|line| !line.is_empty())
            .collect();
        let faults = own.iter().filter(|event| event.kind == EventKind::PageFault);
        Self {
            role: role.to_owned(),
            stretches: merge(lines),
            interruptions: interruptions(&own),
            faults: faults.map(|event| event.at_ns).collect(),
        }
    }

    /// State at `at_ns`, with the time since which it has lasted. A role without any switch runs all the time.
    pub(super) fn at(&self, at_ns: u64) -> Stretch {
        let after = self.stretches.partition_point(|stretch| stretch.from_ns <= at_ns);
        let known = after.checked_sub(1).map(|before| self.stretches[before]);
        known.unwrap_or(Stretch { from_ns: 0, doing: Doing::Running })
    }

    /// State that follows the one at `at_ns`, if it ends.
    pub(super) fn next(&self, at_ns: u64) -> Option<Doing> {
        let after = self.stretches.partition_point(|stretch| stretch.from_ns <= at_ns);
        self.stretches.get(after).map(|stretch| stretch.doing)
    }

    /// Interrupt that its CPU handled at `at_ns`: the innermost.
    pub(super) fn interruption_at(&self, at_ns: u64) -> Option<Interruption> {
        let begun = self.interruptions.partition_point(|one| one.0 <= at_ns);
        // Interrupts nest: softirqs are interrupted, but not by more than a few.
        let latest = self.interruptions[..begun].iter().rev().take(4);
        latest.filter(|one| at_ns < one.1).map(|one| one.2).next()
    }

    /// Whether it had a page fault from `from_ns` up to `to_ns`.
    pub(super) fn has_fault(&self, from_ns: u64, to_ns: u64) -> bool {
        let first = self.faults.partition_point(|&at_ns| at_ns < from_ns);
        self.faults.get(first).is_some_and(|&at_ns| at_ns <= to_ns)
    }

    /// Times at which anything changes after `from_ns` and before `to_ns`.
    pub(super) fn changes(&self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = u64> {
        let inside = move |&at_ns: &u64| at_ns > from_ns && at_ns < to_ns;
        let first = self.stretches.partition_point(|stretch| stretch.from_ns <= from_ns);
        let stretches = self.stretches[first..].iter().map(|stretch| stretch.from_ns);
        let first = self.interruptions.partition_point(|one| one.0 <= from_ns).saturating_sub(4);
        let edges = self.interruptions[first..].iter().take_while(move |one| one.0 < to_ns);
        let first = self.faults.partition_point(|&at_ns| at_ns <= from_ns);
        let faults = self.faults[first..].iter().copied();
        stretches
            .take_while(move |&at_ns| at_ns < to_ns)
            .chain(edges.flat_map(|one| [one.0, one.1]))
            .chain(faults.take_while(move |&at_ns| at_ns < to_ns))
            .filter(inside)
    }
}

/// Returns what `thread` did; empty if nothing is known of it.
fn thread_stretches(events: &[Event], thread: usize) -> Vec<Stretch> {
    let mut line = Vec::new();
    for event in events.iter().filter(|event| event.thread == thread) {
        let at_ns = event.at_ns;
        let mut begins = |from_ns, doing| line.push(Stretch { from_ns, doing });
        match event.kind {
            EventKind::Runs { waited_ns, after_idle } => {
                begin_wait(&mut line, at_ns.saturating_sub(waited_ns), after_idle);
                line.push(Stretch { from_ns: at_ns, doing: Doing::Running });
            }
            EventKind::Preempted => begins(at_ns, Doing::RunQueue),
            EventKind::Sleeps { state, call } => begins(at_ns, sleep(state, call)),
            EventKind::Begins(_) | EventKind::Ends(_) | EventKind::PageFault => {}
        }
    }
    line
}

/// Adds the wait for a CPU that began at `from_ns`. Before the first event, the thread slept.
fn begin_wait(line: &mut Vec<Stretch>, from_ns: u64, after_idle: bool) {
    let doing = if after_idle { Doing::IdleExit } else { Doing::RunQueue };
    match line.last_mut() {
        None => line.push(Stretch { from_ns: 0, doing: Doing::Asleep }),
        // It waited since it was preempted.
        Some(last) if last.doing == Doing::RunQueue => {
            last.doing = doing;
            return;
        }
        Some(_) => {}
    }
    let earliest = line.last().map_or(0, |last| last.from_ns);
    line.push(Stretch { from_ns: from_ns.max(earliest), doing });
}

fn sleep(state: u64, call: Option<u32>) -> Doing {
    let timers = ["nanosleep", "clock_nanosleep"];
    let is_timer = |call: u32| timers.contains(&syscall_name(call.into()).as_str());
    match call {
        _ if state & STOPPED != 0 => Doing::Stopped,
        Some(call) if is_timer(call) => Doing::TimedSleep,
        _ => Doing::Asleep,
    }
}

/// Merges the lines of several threads: what the most active of them does.
fn merge(mut lines: Vec<Vec<Stretch>>) -> Vec<Stretch> {
    if lines.len() < 2 {
        return lines.pop().unwrap_or_default();
    }
    let mut edges: Vec<(u64, usize, Doing)> = lines
        .iter()
        .enumerate()
        .flat_map(|(line, stretches)| {
            stretches.iter().map(move |one| (one.from_ns, line, one.doing))
        })
        .collect();
    edges.sort_by_key(|edge| edge.0);
    let mut now: Vec<Option<Doing>> = vec![None; lines.len()];
    let mut merged: Vec<Stretch> = Vec::new();
    for (from_ns, line, doing) in edges {
        now[line] = Some(doing);
        let most = now.iter().flatten().copied().min_by_key(|doing| doing.rank());
        let most = most.unwrap_or(doing);
        match merged.last_mut() {
            Some(last) if last.from_ns == from_ns => last.doing = most,
            Some(last) if last.doing == most => {}
            _ => merged.push(Stretch { from_ns, doing: most }),
        }
    }
    merged
}

/// Pairs begins and ends of interrupts. What has no end, since it was lost, is left out.
fn interruptions(events: &[Event]) -> Vec<(u64, u64, Interruption)> {
    let mut open: Vec<(usize, Interruption, u64)> = Vec::new();
    let mut pairs = Vec::new();
    for event in events {
        match event.kind {
            EventKind::Begins(kind) => open.push((event.thread, kind, event.at_ns)),
            EventKind::Ends(kind) => {
                let own = |one: &(usize, Interruption, u64)| (one.0, one.1) == (event.thread, kind);
                if let Some(at) = open.iter().rposition(own) {
                    pairs.push((open[at].2, event.at_ns, kind));
                    open.truncate(at);
                }
            }
            _ => {}
        }
    }
    pairs.sort_unstable_by_key(|pair| pair.0);
    pairs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WINDOW: Window = Window { phase: 1, begin_ns: 5, end_ns: 1_000, untracked_events: 0 };

    fn event(at_ns: u64, thread: usize, kind: EventKind) -> Event {
        Event { at_ns, role: 0, thread, kind }
    }

    fn runs(waited_ns: u64, after_idle: bool) -> EventKind {
        EventKind::Runs { waited_ns, after_idle }
    }

    fn doing(activity: &Activity, times: &[u64]) -> Vec<Doing> {
        times.iter().map(|&at_ns| activity.at(at_ns).doing).collect()
    }

    #[test]
    fn switches_become_stretches() {
        let sleeps = |state, call| EventKind::Sleeps { state, call: Some(call) };
        let nanosleep = u32::try_from(libc::SYS_clock_nanosleep).unwrap();
        let events = [
            event(10, 0, sleeps(1, 0)),
            event(30, 0, runs(5, true)),
            event(40, 0, EventKind::Preempted),
            event(60, 0, runs(20, false)),
            event(70, 0, sleeps(4, 0)),
            event(80, 0, runs(0, false)),
            event(90, 0, sleeps(1, nanosleep)),
        ];
        let seen = Activity::new("sender", 0, &WINDOW, &events);
        use Doing::*;
        let expected = [Running, Asleep, IdleExit, Running, RunQueue, Running, Stopped, TimedSleep];
        // Before its first event the thread ran: it went to sleep from a CPU.
        assert_eq!(seen.at(7).doing, Running);
        assert_eq!(doing(&seen, &[7, 12, 26, 33, 50, 65, 75, 95]), expected);
        assert_eq!((seen.next(12), seen.next(95)), (Some(IdleExit), None));
        assert_eq!(seen.changes(10, 60).collect::<Vec<_>>(), [25, 30, 40]);
    }

    #[test]
    fn a_thread_that_was_woken_first_slept_before() {
        let seen = Activity::new("sender", 0, &WINDOW, &[event(50, 0, runs(10, false))]);
        assert_eq!(doing(&seen, &[20, 45, 55]), [Doing::Asleep, Doing::RunQueue, Doing::Running]);
    }

    #[test]
    fn interrupts_nest_and_an_end_without_begin_is_left_out() {
        use Interruption::*;
        let events = [
            event(8, 0, EventKind::Ends(Softirq)),
            event(10, 0, EventKind::Begins(Softirq)),
            event(20, 0, EventKind::Begins(Interrupt)),
            event(30, 0, EventKind::Ends(Interrupt)),
            event(40, 0, EventKind::Ends(Softirq)),
            event(45, 0, EventKind::PageFault),
            event(50, 0, EventKind::Begins(Softirq)),
        ];
        let seen = Activity::new("sender", 0, &WINDOW, &events);
        let at = [9, 15, 25, 35, 45, 55].map(|at_ns| seen.interruption_at(at_ns));
        assert_eq!(at, [None, Some(Softirq), Some(Interrupt), Some(Softirq), None, None]);
        assert_eq!([seen.has_fault(40, 50), seen.has_fault(46, 50)], [true, false]);
        assert_eq!(seen.changes(15, 46).collect::<Vec<_>>(), [40, 20, 30, 45]);
    }

    proptest! {
        #[test]
        fn a_role_does_what_its_most_active_thread_does(
            steps in proptest::collection::vec((1_u64..9, 0_usize..3, 0_usize..3), 1..40),
        ) {
            let kinds = [runs(0, false), EventKind::Preempted, EventKind::Sleeps { state: 1, call: None }];
            let mut at_ns = 5;
            let events: Vec<_> = steps.iter().map(|&(gap, thread, kind)| {
                at_ns += gap;
                event(at_ns, thread, kinds[kind])
            }).collect();
            let whole = Activity::new("sender", 0, &WINDOW, &events);
            let lines: Vec<_> = (0..3).map(|thread| thread_stretches(&events, thread)).collect();
            for at_ns in 6..=at_ns {
                let last = |line: &Vec<Stretch>| line.iter().rfind(|one| one.from_ns <= at_ns).map(|one| one.doing.rank());
                if let Some(rank) = lines.iter().filter_map(last).min() {
                    prop_assert_eq!(whole.at(at_ns).doing.rank(), rank);
                }
            }
        }
    }
}
