//! Aggregates the results of threads into rows of roles.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ipcperf_model::instrument::sched::{SchedRow, Sleep, WakeupPercentiles};
use ipcperf_model::instrument_view::{Span, State};
use ipcperf_model::log2_histogram;
use ipcperf_model::observation::Observation;

use super::bpf_layout::{
    IDLE_WAKER, OTHER_WAKER, SchedResults, SchedThread, Sleeps, StateTimes, Window,
};
use super::timeline;
use crate::Targets;
use crate::syscall_table::syscall_name;

/// Returns the observations of all roles of `targets` that marked a phase.
pub(super) fn observations(targets: &Targets, results: &SchedResults) -> Vec<Observation> {
    let closed = || results.windows.iter().filter(|window| window.is_closed());
    let origin_ns = closed().map(|window| window.begin_ns).min().unwrap_or(0);
    let names: Vec<&str> = targets.members.iter().map(|member| &*member.role).collect();
    let roles = names.iter().zip(&results.windows).zip(&results.threads);
    roles
        .filter(|((_, window), _)| window.is_closed())
        .map(|((name, window), threads)| {
            Observation::from_row(Some(name), &row(&names, window, threads, origin_ns))
        })
        .collect()
}

fn row(names: &[&str], window: &Window, threads: &[SchedThread], origin_ns: u64) -> SchedRow {
    let seen: Vec<SchedThread> =
        threads.iter().filter_map(|thread| extend_to_end(thread, window)).collect();
    let sum = |field: fn(&SchedThread) -> u64| seen.iter().map(field).sum::<u64>();
    let lines: Vec<Vec<Span>> = seen.iter().map(|thread| timeline::spans(thread, window)).collect();
    let line = timeline::relative_to(origin_ns, timeline::merge(&lines));
    let latency = log2_histogram::pairs(&sum_counts(seen.iter().map(|thread| &thread.latency)));
    SchedRow {
        interval_ns: window.interval_ns(),
        threads: seen.len() as u64,
        untracked_thread_events: window.untracked_events,
        lost_events: sum(|thread| thread.lost_events),
        on_cpu_ns: sum(|thread| thread.state_times.on_cpu_ns),
        runnable_ns: sum(|thread| thread.state_times.runnable_ns),
        asleep_ns: sum(|thread| thread.state_times.asleep_ns),
        sleeps: sleeps(&seen),
        voluntary_switches: sum(|thread| thread.voluntary),
        involuntary_switches: sum(|thread| thread.involuntary),
        migrations: sum(|thread| thread.migrations),
        cpus: cpus(&seen),
        woken_by: woken_by(names, &sum_counts(seen.iter().map(|thread| &thread.woken_by))),
        wakeup_latency_percentiles_ns: percentiles(&latency),
        wakeup_latency_log2_histogram_ns: latency,
        timeline: line.iter().map(|span| (span.from_ns, span.to_ns, span.state)).collect(),
    }
}

/// Returns `thread` as it was at the end of `window`, including its state since its last switch; `None` if it did not
/// exist then.
fn extend_to_end(thread: &SchedThread, window: &Window) -> Option<SchedThread> {
    let is_current = thread.phase == window.phase;
    let mut ended = if is_current {
        thread.clone()
    } else {
        SchedThread { changes: Vec::new(), ..only_state(thread) }
    };
    if let Some(state) = thread.state {
        let from_ns = thread.since_ns.clamp(window.begin_ns, window.end_ns);
        // A woken thread waits for a CPU, even though it has not run again yet.
        let woken_ns = if state == State::Asleep && thread.waking_ns > thread.since_ns {
            thread.waking_ns.clamp(from_ns, window.end_ns)
        } else {
            window.end_ns
        };
        *ended.state_times.time_in_mut(state) += woken_ns - from_ns;
        ended.state_times.runnable_ns += window.end_ns - woken_ns;
    }
    (ended.state_times != StateTimes::default()).then_some(ended)
}

/// Returns a thread that has done nothing since an earlier phase: only its state is kept.
fn only_state(thread: &SchedThread) -> SchedThread {
    let (state, phase) = (thread.state, thread.phase);
    SchedThread { state, phase, ..SchedThread::default() }
}

impl StateTimes {
    const fn time_in_mut(&mut self, state: State) -> &mut u64 {
        match state {
            State::Running => &mut self.on_cpu_ns,
            State::Runnable => &mut self.runnable_ns,
            State::Asleep => &mut self.asleep_ns,
        }
    }
}

fn sum_counts<'a>(all: impl Iterator<Item = &'a Vec<u64>>) -> Vec<u64> {
    let mut sums = Vec::new();
    for counts in all {
        sums.resize(sums.len().max(counts.len()), 0);
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    sums
}

fn sleeps(seen: &[SchedThread]) -> Vec<Sleep> {
    let mut kinds = BTreeMap::<(u64, Option<u32>), (u64, u64)>::new();
    for &Sleeps { state, call, count, asleep_ns } in seen.iter().flat_map(|thread| &thread.sleeps) {
        let sums = kinds.entry((state, call)).or_default();
        *sums = (sums.0 + count, sums.1 + asleep_ns);
    }
    let mut sleeps: Vec<Sleep> = kinds
        .into_iter()
        .map(|((state, call), (count, asleep_ns))| {
            let syscall = call.map(|number| syscall_name(number.into()));
            Sleep { state: task_state_name(state), syscall, count, asleep_ns }
        })
        .collect();
    sleeps.sort_by_key(|sleep| Reverse(sleep.asleep_ns));
    sleeps
}

/// Names the kernel's task states. No user-space header defines them, but `/proc` shows them.
fn task_state_name(state: u64) -> String {
    let name = match state {
        1 => "interruptible",
        2 => "uninterruptible",
        4 => "stopped",
        8 => "traced",
        _ => "other",
    };
    name.to_owned()
}

fn cpus(seen: &[SchedThread]) -> Vec<u32> {
    let mut cpus: Vec<u32> = seen.iter().flat_map(|thread| thread.cpus.iter().copied()).collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

fn woken_by(names: &[&str], counts: &[u64]) -> BTreeMap<String, u64> {
    let others = [(OTHER_WAKER, "other"), (IDLE_WAKER, "idle")];
    let names = names.iter().copied().enumerate().chain(others);
    names
        .filter_map(|(waker, name)| Some((name.to_owned(), *counts.get(waker)?)))
        .filter(|(_, count)| *count > 0)
        .collect()
}

fn percentiles(latency: &[(u64, u64)]) -> Option<WakeupPercentiles> {
    let at = |percent| log2_histogram::percentile(latency, percent);
    Some(WakeupPercentiles { p50: at(50.0)?, p90: at(90.0)?, p99: at(99.0)? })
}

#[cfg(test)]
mod tests {
    use ipcperf_model::log2_histogram::ROWS;

    use super::*;
    use crate::{Member, Scope};

    const WINDOW: Window = Window { phase: 2, begin_ns: 1_000, end_ns: 2_000, untracked_events: 0 };

    /// Returns a thread whose last switch was at `since_ns`, and which is in `state` from then on.
    fn thread(since_ns: u64, state: State) -> SchedThread {
        let spent = StateTimes { on_cpu_ns: since_ns - 1_000, ..StateTimes::default() };
        let changes = vec![(1_000, State::Running), (since_ns, state)];
        SchedThread {
            phase: 2,
            since_ns,
            state: Some(state),
            state_times: spent,
            changes,
            ..SchedThread::default()
        }
    }

    fn test_row(threads: &[SchedThread]) -> SchedRow {
        row(&["sender", "receiver"], &WINDOW, threads, 900)
    }

    fn times(row: &SchedRow) -> [u64; 3] {
        [row.on_cpu_ns, row.runnable_ns, row.asleep_ns]
    }

    #[test]
    fn what_a_thread_was_at_goes_on_to_the_end() {
        assert_eq!(times(&test_row(&[thread(1_400, State::Asleep)])), [400, 0, 600]);
        assert_eq!(times(&test_row(&[thread(1_400, State::Runnable)])), [400, 600, 0]);
        let after = SchedThread { since_ns: 3_000, ..thread(1_400, State::Asleep) };
        assert_eq!(times(&test_row(&[after])), [400, 0, 0]);
        let woken = SchedThread { waking_ns: 1_700, ..thread(1_400, State::Asleep) };
        assert_eq!(times(&test_row(&[woken])), [400, 300, 300]);
    }

    #[test]
    fn of_a_phase_before_only_the_state_is_left() {
        let before = SchedThread {
            phase: 1,
            voluntary: 9,
            since_ns: 100,
            state: Some(State::Asleep),
            state_times: StateTimes { on_cpu_ns: 50, ..StateTimes::default() },
            ..SchedThread::default()
        };
        let row = test_row(&[before, SchedThread::default()]);
        assert_eq!((times(&row), row.voluntary_switches, row.threads), ([0, 0, 1_000], 0, 1));
        assert_eq!(row.timeline, [(100, 1_100, State::Asleep)]);
    }

    #[test]
    fn threads_of_a_role_are_added_up() {
        let sleeps = |call, asleep_ns| vec![Sleeps { state: 1, call, count: 2, asleep_ns }];
        let mut latency = vec![0; ROWS];
        latency[3] = 2;
        let one = SchedThread {
            sleeps: sleeps(Some(0), 5),
            cpus: vec![3],
            woken_by: vec![0, 2, 0, 0, 0, 1],
            latency,
            ..thread(1_500, State::Asleep)
        };
        let other = SchedThread { sleeps: sleeps(None, 70), cpus: vec![1, 3], ..one.clone() };
        let row = test_row(&[one, other]);
        assert_eq!((times(&row), row.interval_ns, row.threads), ([1_000, 0, 1_000], 1_000, 2));
        let counts: Vec<_> =
            row.sleeps.iter().map(|sleep| (sleep.count, sleep.asleep_ns)).collect();
        assert_eq!((counts, &row.sleeps[0].syscall), (vec![(2, 70), (2, 5)], &None));
        assert_eq!(row.cpus, [1, 3]);
        assert_eq!(
            row.woken_by,
            BTreeMap::from([("receiver".to_owned(), 4), ("idle".to_owned(), 2)])
        );
        assert_eq!(row.wakeup_latency_log2_histogram_ns, [(4, 4)]);
        assert_eq!(row.timeline, [(100, 600, State::Running), (600, 1_100, State::Asleep)]);
    }

    #[test]
    fn a_role_without_both_marks_is_not_told_of() {
        let member =
            |role: &str| Member { role: role.to_owned(), pid: 1, tid: 1, scope: Scope::Thread };
        let targets = Targets::new(vec![member("sender"), member("receiver")]);
        let open = Window { end_ns: 0, ..WINDOW };
        let threads = vec![vec![thread(1_400, State::Asleep)]; 2];
        let rows = observations(
            &targets,
            &SchedResults { windows: vec![open, WINDOW], threads, journal_events: 0 },
        );
        let roles: Vec<_> = rows.iter().map(|observation| observation.role.as_deref()).collect();
        assert_eq!(roles, [Some("receiver")]);
        assert_eq!(rows[0].row::<SchedRow>().unwrap().timeline[0].0, 0);
    }
}
