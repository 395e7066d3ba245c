//! Aggregates the results of threads into rows of roles.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ipcperf_model::instrument::sched::{Percentiles, Row, Sleep};
use ipcperf_model::instrument_view::{Span, State};
use ipcperf_model::log2_histogram;
use ipcperf_model::observation::Observation;

use super::bpf_layout::{IDLE, OTHER, Sleeps, Spent, Thread, Told, Window};
use super::timeline;
use crate::Parties;
use crate::syscall_table::name;

/// Returns the observations of all roles of `parties` that marked a phase.
pub(super) fn observations(parties: &Parties, told: &Told) -> Vec<Observation> {
    let closed = || told.windows.iter().filter(|window| window.is_closed());
    let origin_ns = closed().map(|window| window.begin_ns).min().unwrap_or(0);
    let names: Vec<&str> = parties.members.iter().map(|member| &*member.role).collect();
    let roles = names.iter().zip(&told.windows).zip(&told.threads);
    roles
        .filter(|((_, window), _)| window.is_closed())
        .map(|((name, window), threads)| {
            Observation::of(Some(name), &row(&names, window, threads, origin_ns))
        })
        .collect()
}

fn row(names: &[&str], window: &Window, threads: &[Thread], origin_ns: u64) -> Row {
    let seen: Vec<Thread> = threads.iter().filter_map(|thread| until_end(thread, window)).collect();
    let sum = |of: fn(&Thread) -> u64| seen.iter().map(of).sum::<u64>();
    let lines: Vec<Vec<Span>> = seen.iter().map(|thread| timeline::spans(thread, window)).collect();
    let line = timeline::since(origin_ns, timeline::merged(&lines));
    let latency = log2_histogram::pairs(&summed(seen.iter().map(|thread| &thread.latency)));
    Row {
        interval_ns: window.interval_ns(),
        threads: seen.len() as u64,
        untold_events: window.untold,
        missed_events: sum(|thread| thread.missed),
        on_cpu_ns: sum(|thread| thread.spent.on_cpu_ns),
        runnable_ns: sum(|thread| thread.spent.runnable_ns),
        asleep_ns: sum(|thread| thread.spent.asleep_ns),
        sleeps: sleeps(&seen),
        voluntary_switches: sum(|thread| thread.voluntary),
        involuntary_switches: sum(|thread| thread.involuntary),
        migrations: sum(|thread| thread.migrations),
        cpus: cpus(&seen),
        woken_by: woken_by(names, &summed(seen.iter().map(|thread| &thread.woken_by))),
        wakeup_latency_percentiles_ns: percentiles(&latency),
        wakeup_latency_quantised_ns: latency,
        timeline: line.iter().map(|span| (span.from_ns, span.to_ns, span.state)).collect(),
    }
}

/// Returns `thread` as it was at the end of `window`, including its state since its last switch; `None` if it did not
/// exist then.
fn until_end(thread: &Thread, window: &Window) -> Option<Thread> {
    let is_current = thread.phase == window.phase;
    let mut ended = if is_current {
        thread.clone()
    } else {
        Thread { changes: Vec::new(), ..forgotten(thread) }
    };
    if let Some(state) = thread.state {
        let from_ns = thread.since_ns.clamp(window.begin_ns, window.end_ns);
        // A woken thread waits for a CPU, even though it has not run again yet.
        let woken_ns = if state == State::Asleep && thread.waking_ns > thread.since_ns {
            thread.waking_ns.clamp(from_ns, window.end_ns)
        } else {
            window.end_ns
        };
        *ended.spent.of(state) += woken_ns - from_ns;
        ended.spent.runnable_ns += window.end_ns - woken_ns;
    }
    (ended.spent != Spent::default()).then_some(ended)
}

/// Returns a thread that has done nothing since an earlier phase: only its state is kept.
fn forgotten(thread: &Thread) -> Thread {
    let (state, phase) = (thread.state, thread.phase);
    Thread { state, phase, ..Thread::default() }
}

impl Spent {
    const fn of(&mut self, state: State) -> &mut u64 {
        match state {
            State::Running => &mut self.on_cpu_ns,
            State::Runnable => &mut self.runnable_ns,
            State::Asleep => &mut self.asleep_ns,
        }
    }
}

fn summed<'a>(all: impl Iterator<Item = &'a Vec<u64>>) -> Vec<u64> {
    let mut sums = Vec::new();
    for counts in all {
        sums.resize(sums.len().max(counts.len()), 0);
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    sums
}

fn sleeps(seen: &[Thread]) -> Vec<Sleep> {
    let mut kinds = BTreeMap::<(u64, Option<u32>), (u64, u64)>::new();
    for &Sleeps { state, call, count, asleep_ns } in seen.iter().flat_map(|thread| &thread.sleeps) {
        let sums = kinds.entry((state, call)).or_default();
        *sums = (sums.0 + count, sums.1 + asleep_ns);
    }
    let mut sleeps: Vec<Sleep> = kinds
        .into_iter()
        .map(|((state, call), (count, asleep_ns))| {
            let syscall = call.map(|number| name(number.into()));
            Sleep { state: word(state), syscall, count, asleep_ns }
        })
        .collect();
    sleeps.sort_by_key(|sleep| Reverse(sleep.asleep_ns));
    sleeps
}

/// Names the kernel's task states. No user-space header defines them, but `/proc` shows them.
fn word(state: u64) -> String {
    let word = match state {
        1 => "interruptible",
        2 => "uninterruptible",
        4 => "stopped",
        8 => "traced",
        _ => "other",
    };
    word.to_owned()
}

fn cpus(seen: &[Thread]) -> Vec<u32> {
    let mut cpus: Vec<u32> = seen.iter().flat_map(|thread| thread.cpus.iter().copied()).collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

fn woken_by(names: &[&str], counts: &[u64]) -> BTreeMap<String, u64> {
    let others = [(OTHER, "other"), (IDLE, "idle")];
    let names = names.iter().copied().enumerate().chain(others);
    names
        .filter_map(|(waker, name)| Some((name.to_owned(), *counts.get(waker)?)))
        .filter(|(_, count)| *count > 0)
        .collect()
}

fn percentiles(latency: &[(u64, u64)]) -> Option<Percentiles> {
    let at = |percent| log2_histogram::percentile(latency, percent);
    Some(Percentiles { p50: at(50.0)?, p90: at(90.0)?, p99: at(99.0)? })
}

#[cfg(test)]
mod tests {
    use ipcperf_model::log2_histogram::ROWS;

    use super::*;
    use crate::{Member, Scope};

    const WINDOW: Window = Window { phase: 2, begin_ns: 1_000, end_ns: 2_000, untold: 0 };

    /// Returns a thread whose last switch was at `since_ns`, and which is in `state` from then on.
    fn thread(since_ns: u64, state: State) -> Thread {
        let spent = Spent { on_cpu_ns: since_ns - 1_000, ..Spent::default() };
        let changes = vec![(1_000, State::Running), (since_ns, state)];
        Thread { phase: 2, since_ns, state: Some(state), spent, changes, ..Thread::default() }
    }

    fn of(threads: &[Thread]) -> Row {
        row(&["sender", "receiver"], &WINDOW, threads, 900)
    }

    fn times(row: &Row) -> [u64; 3] {
        [row.on_cpu_ns, row.runnable_ns, row.asleep_ns]
    }

    #[test]
    fn what_a_thread_was_at_goes_on_to_the_end() {
        assert_eq!(times(&of(&[thread(1_400, State::Asleep)])), [400, 0, 600]);
        assert_eq!(times(&of(&[thread(1_400, State::Runnable)])), [400, 600, 0]);
        let after = Thread { since_ns: 3_000, ..thread(1_400, State::Asleep) };
        assert_eq!(times(&of(&[after])), [400, 0, 0]);
        let woken = Thread { waking_ns: 1_700, ..thread(1_400, State::Asleep) };
        assert_eq!(times(&of(&[woken])), [400, 300, 300]);
    }

    #[test]
    fn of_a_phase_before_only_the_state_is_left() {
        let before = Thread {
            phase: 1,
            voluntary: 9,
            since_ns: 100,
            state: Some(State::Asleep),
            spent: Spent { on_cpu_ns: 50, ..Spent::default() },
            ..Thread::default()
        };
        let row = of(&[before, Thread::default()]);
        assert_eq!((times(&row), row.voluntary_switches, row.threads), ([0, 0, 1_000], 0, 1));
        assert_eq!(row.timeline, [(100, 1_100, State::Asleep)]);
    }

    #[test]
    fn threads_of_a_role_are_added_up() {
        let sleeps = |call, asleep_ns| vec![Sleeps { state: 1, call, count: 2, asleep_ns }];
        let mut latency = vec![0; ROWS];
        latency[3] = 2;
        let one = Thread {
            sleeps: sleeps(Some(0), 5),
            cpus: vec![3],
            woken_by: vec![0, 2, 0, 0, 0, 1],
            latency,
            ..thread(1_500, State::Asleep)
        };
        let other = Thread { sleeps: sleeps(None, 70), cpus: vec![1, 3], ..one.clone() };
        let row = of(&[one, other]);
        assert_eq!((times(&row), row.interval_ns, row.threads), ([1_000, 0, 1_000], 1_000, 2));
        let counts: Vec<_> =
            row.sleeps.iter().map(|sleep| (sleep.count, sleep.asleep_ns)).collect();
        assert_eq!((counts, &row.sleeps[0].syscall), (vec![(2, 70), (2, 5)], &None));
        assert_eq!(row.cpus, [1, 3]);
        assert_eq!(
            row.woken_by,
            BTreeMap::from([("receiver".to_owned(), 4), ("idle".to_owned(), 2)])
        );
        assert_eq!(row.wakeup_latency_quantised_ns, [(4, 4)]);
        assert_eq!(row.timeline, [(100, 600, State::Running), (600, 1_100, State::Asleep)]);
    }

    #[test]
    fn a_role_without_both_marks_is_not_told_of() {
        let member =
            |role: &str| Member { role: role.to_owned(), pid: 1, tid: 1, scope: Scope::Thread };
        let parties = Parties { members: vec![member("sender"), member("receiver")] };
        let open = Window { end_ns: 0, ..WINDOW };
        let threads = vec![vec![thread(1_400, State::Asleep)]; 2];
        let told = observations(&parties, &Told { windows: vec![open, WINDOW], threads });
        let roles: Vec<_> = told.iter().map(|observation| observation.role.as_deref()).collect();
        assert_eq!(roles, [Some("receiver")]);
        assert_eq!(told[0].row::<Row>().unwrap().timeline[0].0, 0);
    }
}
