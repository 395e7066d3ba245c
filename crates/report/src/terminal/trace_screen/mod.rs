//! Output of `ipcperf trace`, which fits on one screen: system calls, time and context switches, and hottest functions.
//! Tables of other instruments follow if there is room. The last line is the cost of tracing.

mod calls;
mod footer;
mod functions;
mod role_times;
#[cfg(test)]
mod test_rows;
mod time_bars;
mod traced_parts;

use ipcperf_model::instrument::profile::{self, ProfileRow};
use ipcperf_model::instrument::rusage::RusageRow;
use ipcperf_model::instrument::sched::{LISTED, SchedRow, SlowMessagesRow, slow_message_tables};
use ipcperf_model::instrument::syscalls::{self, SyscallRow};
use ipcperf_model::instrument_view::{InstrumentView, Value};
use ipcperf_model::observation::{Observation, roles};
use ipcperf_model::units;
use ipcperf_results::Sample;
use ipcperf_results::analysis::{AnalyzedFile, ProfileSampling};

use self::calls::{RoleCalls, call_tables};
use self::footer::{Hidden, footer};
use self::functions::hottest_functions;
use self::role_times::role_times;
use self::traced_parts::TracedParts;
use super::clip::{CutAt, clip};
use super::instrument_views::{value_text, view_text};
use super::instruments::sampling_note;
use super::width::wrap;

/// Maximum number of roles shown: sender, receiver and broker.
const MAX_ROLES: usize = 3;
/// Number of the slowest messages shown if there are system calls to show.
const FEW_MESSAGES: usize = 5;

/// Presentation of what one instrument observed in one run.
struct InstrumentViews {
    instrument: String,
    views: Vec<InstrumentView>,
    /// Whether other parts of the screen show the essence of the observations.
    is_summarized: bool,
}

/// Returns the trace in `file` as text of at most `max_lines` lines, without the heading; `None` if no run was traced.
/// On terminals of 100 or more `columns`, no line is wider than they are, except for a long path of the file.
pub fn trace_screen(file: &AnalyzedFile, columns: usize, max_lines: usize) -> Option<String> {
    let traced = TracedParts::new(&file.results);
    let main = traced.main_run()?;
    let observed = traced.observations();
    let all_roles = roles(&observed);
    let shown_roles = &all_roles[..all_roles.len().min(MAX_ROLES)];
    let views = traced.views();
    let mut hidden =
        Hidden { roles: all_roles.len() - shown_roles.len(), views: count_views(&views) };
    // The footer is highest if all views are hidden.
    let footer_lines = footer(file, &hidden, columns).lines().count();
    let summaries = summaries(file, &traced, shown_roles, &observed, columns);
    let mut parts = vec![headline(main, columns)];
    let missing = traced.describe_missing(&file.results);
    parts.extend(missing.map(|line| wrap(&line, columns)));
    let taken = height(&parts) + height(&summaries) + footer_lines + 2;
    let room = max_lines.saturating_sub(taken);
    parts.extend(calls(&traced, shown_roles, &observed, columns, room));
    parts.extend(summaries);
    let room = max_lines.saturating_sub(height(&parts) + footer_lines + 1);
    let (tables, hidden_views) = fill(views, columns, room);
    parts.extend(tables);
    hidden.views = hidden_views;
    parts.push(footer(file, &hidden, columns));
    Some(parts.join("\n\n"))
}

/// Returns the number of views of each instrument.
fn count_views(all: &[InstrumentViews]) -> Vec<(String, usize)> {
    all.iter().map(|one| (one.instrument.clone(), one.views.len())).collect()
}

/// Returns the number of lines of `parts` with an empty line between them.
fn height(parts: &[String]) -> usize {
    parts.iter().map(|part| part.lines().count() + 1).sum::<usize>().saturating_sub(1)
}

/// Describes the traced run on one line.
fn headline(sample: &Sample, columns: usize) -> String {
    let case = &sample.run.case;
    let messages = if case.workload.is_answered() { "round trips" } else { "messages" };
    let excluded =
        sample.excluded.map_or_else(String::new, |reason| format!(", {}", reason.describe_run()));
    let figures = format!(
        "{} {messages}, {}, in {} (run {}{excluded})",
        sample.messages,
        units::bytes(sample.total_bytes),
        value_text(&Value::Ns(sample.elapsed_ns)),
        sample.run.run_id
    );
    clip(&format!("{}: {figures}", case.cell()), columns, CutAt::Character)
}

/// Returns the tables of system calls of `roles`, which fill at most `room` lines, but have at least one row each. A
/// role without calls is mentioned if calls were observed.
fn calls(
    traced: &TracedParts<'_>,
    roles: &[&str],
    observed: &[Observation],
    columns: usize,
    room: usize,
) -> Vec<String> {
    if roles.is_empty() || !traced.has_instrument(syscalls::FACTS.name) {
        return Vec::new();
    }
    let calls: Vec<RoleCalls<'_>> =
        roles.iter().map(|role| RoleCalls::new(role, observed)).collect();
    let rows = (room / roles.len()).saturating_sub(RoleCalls::LINES_BESIDES_ROWS + 1);
    call_tables(&calls, columns, rows.max(1))
}

/// Returns the parts of fixed height: time and switches, and hottest functions with a note if there are few samples.
fn summaries(
    file: &AnalyzedFile,
    traced: &TracedParts<'_>,
    roles: &[&str],
    observed: &[Observation],
    columns: usize,
) -> Vec<String> {
    let functions = hottest_functions(roles, observed, columns).map(|functions| {
        let timeout_s = file.results.header.plan.timeout_s;
        let sampled: Vec<&Sample> = traced.run_of(profile::FACTS.name).into_iter().collect();
        let sampling = ProfileSampling::from_observations(observed, &sampled, timeout_s);
        let note = sampling.and_then(|sampling| sampling_note(&sampling));
        let note = note.map(|note| wrap(&note, columns));
        [functions].into_iter().chain(note).collect::<Vec<_>>().join("\n")
    });
    let slow = slow_messages(traced, observed, columns);
    slow.into_iter().chain(role_times(roles, observed, columns)).chain(functions).collect()
}

/// Returns the tables of the slowest messages of a paced run. With other instruments, whose results need room, only a few
/// messages are listed.
fn slow_messages(
    traced: &TracedParts<'_>,
    observed: &[Observation],
    columns: usize,
) -> Vec<String> {
    let is_alone = !traced.has_instrument(syscalls::FACTS.name);
    let count = if is_alone { LISTED } else { FEW_MESSAGES };
    let rows = observed.iter().filter(|observation| observation.role.is_none());
    rows.filter_map(Observation::row)
        .flat_map(|row| slow_message_tables(&row, count))
        .map(|table| view_text(&InstrumentView::Table(table), columns))
        .collect()
}

/// Whether another part of the screen shows the essence of `observation`.
fn is_summarized(observation: &Observation) -> bool {
    observation.row::<SyscallRow>().is_some()
        || observation.row::<SchedRow>().is_some()
        || observation.row::<SlowMessagesRow>().is_some()
        || observation.row::<RusageRow>().is_some()
        || observation.row::<ProfileRow>().is_some()
}

/// Selects tables that are not summarized, the shortest first, as long as they fit into `room` lines with an empty line
/// before each. Returns them with the number of the other views of each instrument.
fn fill(
    all: Vec<InstrumentViews>,
    columns: usize,
    mut room: usize,
) -> (Vec<String>, Vec<(String, usize)>) {
    let mut hidden: Vec<(String, usize)> = Vec::new();
    let mut candidates: Vec<(String, String)> = Vec::new();
    for InstrumentViews { instrument, views, is_summarized } in all {
        for view in views {
            match &view {
                InstrumentView::Table(table) if table.rows.is_empty() => {}
                InstrumentView::Table(_) if !is_summarized => {
                    candidates.push((instrument.clone(), view_text(&view, columns)));
                }
                _ => count_view(&mut hidden, &instrument),
            }
        }
    }
    candidates.sort_by_key(|(_, text)| text.lines().count());
    let mut shown = Vec::new();
    for (instrument, text) in candidates {
        let height = text.lines().count() + 1;
        if height <= room {
            room -= height;
            shown.push(text);
        } else {
            count_view(&mut hidden, &instrument);
        }
    }
    (shown, hidden)
}

fn count_view(counts: &mut Vec<(String, usize)>, instrument: &str) {
    match counts.iter_mut().find(|(name, _)| name == instrument) {
        Some((_, count)) => *count += 1,
        None => counts.push((instrument.to_owned(), 1)),
    }
}

#[cfg(test)]
mod tests;
