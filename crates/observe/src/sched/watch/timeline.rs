//! Timeline of a role: converts the state changes of each thread to spans, and merges the threads' spans into one line.

use ipcperf_model::instrument_view::{Span, State};

use super::bpf_layout::{MAX_CHANGES, SchedThread, Window};

/// Returns the spans of `thread` in `window`, as far as its changes were stored. Times are on the kernel's clock.
pub(super) fn spans(thread: &SchedThread, window: &Window) -> Vec<Span> {
    if thread.phase != window.phase {
        return thread
            .state
            .map(|state| span(window.begin_ns, window.end_ns, state))
            .into_iter()
            .collect();
    }
    let changes = &thread.changes;
    // If the buffer was full, the end of the last state is unknown.
    let end_ns = if changes.len() < MAX_CHANGES { Some(window.end_ns) } else { None };
    let ends = changes.iter().skip(1).map(|change| change.0).chain(end_ns);
    changes
        .iter()
        .zip(ends)
        .map(|(&(from_ns, state), to_ns)| span(from_ns, to_ns, state))
        .filter(|span| span.from_ns < span.to_ns)
        .collect()
}

/// Merges several lines into one: running where any of them runs, asleep where all sleep. The result ends where the
/// first of them ends.
pub(super) fn merge(lines: &[Vec<Span>]) -> Vec<Span> {
    let lines: Vec<_> = lines.iter().filter(|line| !line.is_empty()).collect();
    if let [line] = lines[..] {
        return line.clone();
    }
    let end_ns = lines.iter().filter_map(|line| line.last()).map(|span| span.to_ns).min();
    let mut edges: Vec<u64> = lines
        .iter()
        .flat_map(|line| line.iter().flat_map(|span| [span.from_ns, span.to_ns]))
        .collect();
    edges.retain(|&edge| Some(edge) <= end_ns);
    edges.sort_unstable();
    edges.dedup();
    let mut merged = Vec::new();
    for pair in edges.windows(2) {
        let at = lines
            .iter()
            .filter_map(|line| state_at(line, pair[0]))
            .min_by_key(|&state| rank(state));
        if let Some(state) = at {
            push_span(&mut merged, span(pair[0], pair[1], state));
        }
    }
    merged
}

/// Converts times to offsets from `origin_ns`.
pub(super) fn relative_to(origin_ns: u64, line: Vec<Span>) -> Vec<Span> {
    let relative = |at_ns: u64| at_ns.saturating_sub(origin_ns);
    line.into_iter()
        .map(|was| span(relative(was.from_ns), relative(was.to_ns), was.state))
        .collect()
}

const fn span(from_ns: u64, to_ns: u64, state: State) -> Span {
    Span { from_ns, to_ns, state }
}

fn state_at(line: &[Span], at_ns: u64) -> Option<State> {
    let after = line.partition_point(|span| span.to_ns <= at_ns);
    line.get(after).filter(|span| span.from_ns <= at_ns).map(|span| span.state)
}

const fn rank(state: State) -> u8 {
    match state {
        State::Running => 0,
        State::Runnable => 1,
        State::Asleep => 2,
    }
}

fn push_span(line: &mut Vec<Span>, next: Span) {
    match line.last_mut() {
        Some(last) if last.state == next.state && last.to_ns == next.from_ns => {
            last.to_ns = next.to_ns;
        }
        _ => line.push(next),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STATES: [State; 3] = [State::Running, State::Runnable, State::Asleep];

    fn line() -> impl Strategy<Value = Vec<Span>> {
        proptest::collection::vec((1_u64..50, 0_usize..3), 1..20).prop_map(|steps| {
            let mut at_ns = 0;
            let spans = steps.into_iter().map(|(length, state)| {
                at_ns += length;
                span(at_ns - length, at_ns, STATES[state])
            });
            spans.collect()
        })
    }

    proptest! {
        #[test]
        fn a_role_runs_where_any_of_its_threads_does(lines in proptest::collection::vec(line(), 1..4)) {
            let whole = merge(&lines);
            let end_ns = lines.iter().map(|line| line.last().unwrap().to_ns).min().unwrap();
            prop_assert_eq!(whole.last().unwrap().to_ns, end_ns);
            for at_ns in 0..end_ns {
                let states: Vec<_> = lines.iter().filter_map(|line| state_at(line, at_ns)).collect();
                let most = STATES.into_iter().find(|state| states.contains(state));
                prop_assert_eq!(state_at(&whole, at_ns), most);
            }
        }
    }

    #[test]
    fn changes_become_spans_up_to_the_end_of_the_interval() {
        let window = Window { phase: 2, begin_ns: 10, end_ns: 50, untracked_events: 0 };
        let changes = vec![
            (10, State::Running),
            (20, State::Asleep),
            (30, State::Runnable),
            (30, State::Running),
        ];
        let thread = SchedThread { phase: 2, changes, ..SchedThread::default() };
        let told = [
            span(10, 20, State::Running),
            span(20, 30, State::Asleep),
            span(30, 50, State::Running),
        ];
        assert_eq!(spans(&thread, &window), told);
        assert_eq!(relative_to(10, told.to_vec())[1], span(10, 20, State::Asleep));
    }

    #[test]
    fn what_a_full_buffer_cut_off_is_not_told() {
        let window = Window { phase: 1, begin_ns: 0, end_ns: 1 << 40, untracked_events: 0 };
        let changes = (0..MAX_CHANGES as u64).map(|at_ns| (at_ns, State::Running)).collect();
        let thread = SchedThread { phase: 1, changes, ..SchedThread::default() };
        let line = spans(&thread, &window);
        assert_eq!(line.last().unwrap().to_ns, MAX_CHANGES as u64 - 1);
    }

    #[test]
    fn a_thread_that_never_changed_was_all_the_time_what_it_is() {
        let window = Window { phase: 3, begin_ns: 5, end_ns: 9, untracked_events: 0 };
        let thread = SchedThread { phase: 1, state: Some(State::Asleep), ..SchedThread::default() };
        assert_eq!(spans(&thread, &window), [span(5, 9, State::Asleep)]);
        assert_eq!(spans(&SchedThread::default(), &window), []);
    }
}
