//! Tables of the system calls of each role.

use std::cmp::Reverse;

use comfy_table::{CellAlignment, ContentArrangement};
use ipcperf_model::instrument::syscalls::SyscallRow;
use ipcperf_model::instrument_view::Value;
use ipcperf_model::observation::{Observation, rows_of};
use textwrap::core::display_width;

use super::time_bars::HistogramAxis;
use crate::terminal::cells::new_table;
use crate::terminal::clip::{CutAt, clip};
use crate::terminal::instrument_views::value_text;

/// Headings of the columns before the bars.
const HEADINGS: [&str; 6] = ["call", "count", "errors", "bytes", "total", "median"];
/// Width added by the table style to each column, and missing from the first one.
const COLUMN_PADDING: usize = 3;
const FIRST_COLUMN_SAVING: usize = 1;
/// Characters that frame the bars.
const FRAME: &str = "|";
/// Maximum width of the name of a call.
const MAX_NAME_WIDTH: usize = 24;

/// System calls of one role.
#[derive(Debug)]
pub(super) struct RoleCalls<'a> {
    role: &'a str,
    /// Calls, those with the largest total time first.
    calls: Vec<SyscallRow>,
}

impl<'a> RoleCalls<'a> {
    /// Number of lines of a table besides its rows: title, headings and rule.
    pub(super) const LINES_BESIDES_ROWS: usize = 3;

    /// Selects the calls of `role` from `observations`.
    pub(super) fn new(role: &'a str, observations: &[Observation]) -> Self {
        let mut calls: Vec<SyscallRow> = rows_of(observations, role);
        calls.sort_by_key(|call| Reverse(call.total_ns));
        Self { role, calls }
    }

    /// Formats the calls with the bars on `axis`. If there are more than `max_rows`, the last row counts the others.
    fn text(&self, axis: Option<&HistogramAxis>, max_rows: usize) -> String {
        if self.calls.is_empty() {
            return format!("System calls: {}: none", clip_name(self.role));
        }
        let shown = match self.calls.len() {
            all if all <= max_rows => all,
            _ => max_rows.saturating_sub(1).max(1),
        };
        let mut table = new_table(usize::from(u16::MAX));
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(HEADINGS.into_iter().chain(["times"]));
        for call in &self.calls[..shown] {
            table.add_row(cells(call).into_iter().chain([bars(call, axis)]));
        }
        for column in table.column_iter_mut().skip(1).take(HEADINGS.len() - 1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let times = axis.map_or_else(String::new, |axis| format!(" (times: {})", axis.describe()));
        let title = format!("System calls: {}{times}", clip_name(self.role));
        let lines = [title, table.to_string()].into_iter().chain(self.describe_hidden(shown));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn describe_hidden(&self, shown: usize) -> Option<String> {
        match self.calls.len() - shown {
            0 => None,
            1 => Some(" 1 more system call".to_owned()),
            hidden => Some(format!(" {hidden} more system calls")),
        }
    }
}

/// Formats a table for each of `roles`, at most `columns` wide and with at most `max_rows` rows. All tables have the
/// same axis of times.
pub(super) fn call_tables(roles: &[RoleCalls<'_>], columns: usize, max_rows: usize) -> Vec<String> {
    let calls = || roles.iter().flat_map(|role| &role.calls);
    let histograms = calls().map(|call| call.log2_histogram_ns.as_slice());
    let axis = HistogramAxis::new(histograms, room_for_bars(calls(), columns));
    roles.iter().map(|role| role.text(axis.as_ref(), max_rows)).collect()
}

fn cells(call: &SyscallRow) -> [String; HEADINGS.len()] {
    let bytes = call.returned_bytes.map_or(Value::Absent, Value::Bytes);
    let figures = [
        Value::Count(call.count),
        Value::Count(call.errors),
        bytes,
        Value::Ns(call.total_ns),
        Value::Ns(call.percentiles_ns.p50),
    ];
    let [count, errors, bytes, total, median] = figures.map(|value| value_text(&value));
    [clip_name(&call.syscall), count, errors, bytes, total, median]
}

fn clip_name(name: &str) -> String {
    clip(name, MAX_NAME_WIDTH, CutAt::Character)
}

fn bars(call: &SyscallRow, axis: Option<&HistogramAxis>) -> String {
    let drawn = axis.map(|axis| axis.draw(&call.log2_histogram_ns));
    drawn.map_or_else(String::new, |bars| format!("{FRAME}{bars}{FRAME}"))
}

/// Returns the number of bars that fit next to the other columns of `calls`.
fn room_for_bars<'a>(calls: impl Iterator<Item = &'a SyscallRow>, columns: usize) -> usize {
    let mut widths = HEADINGS.map(display_width);
    for call in calls {
        for (width, cell) in widths.iter_mut().zip(cells(call)) {
            *width = display_width(&cell).max(*width);
        }
    }
    let others = widths.iter().map(|width| width + COLUMN_PADDING).sum::<usize>();
    let frame = COLUMN_PADDING + 2 * FRAME.len();
    columns.saturating_sub(others - FIRST_COLUMN_SAVING + frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::trace_screen::test_rows::syscall_row;

    fn call(syscall: &str, total_ns: u64) -> Observation {
        Observation::from_row(Some("sender"), &syscall_row(syscall, total_ns))
    }

    fn tables(observations: &[Observation], columns: usize, max_rows: usize) -> Vec<String> {
        let roles = ["sender", "receiver"].map(|role| RoleCalls::new(role, observations));
        call_tables(&roles, columns, max_rows)
    }

    #[test]
    fn a_call_has_its_figures_and_its_histogram() {
        let tables = tables(&[call("poll", 1_000), call("write", 2_000_000)], 100, 9);
        let lines: Vec<&str> = tables[0].lines().collect();
        assert_eq!(lines.len(), RoleCalls::LINES_BESIDES_ROWS + 2, "{}", tables[0]);
        assert_eq!(
            lines[0],
            "System calls: sender (times: 256 ns to 2.10 ms, a factor of 2 per bar)"
        );
        for figure in ["write", "4096", "16 MiB", "2.00 ms", "380 ns", "|█▁          ▁|"] {
            assert!(lines[3].contains(figure), "{figure}: {}", tables[0]);
        }
        assert_eq!(tables[1], "System calls: receiver: none");
    }

    #[test]
    fn a_narrow_terminal_has_fewer_bars() {
        for columns in [80, 100] {
            let tables = tables(&[call("rt_sigtimedwait", u64::MAX)], columns, 9);
            let widest = tables[0].lines().map(display_width).max();
            assert!(widest.is_some_and(|widest| widest <= columns), "{}", tables[0]);
        }
    }

    #[test]
    fn calls_that_do_not_fit_are_counted() {
        let calls: Vec<Observation> =
            (0..17).map(|number| call(&format!("call{number}"), number)).collect();
        let tables = tables(&calls, 100, 6);
        let lines: Vec<&str> = tables[0].lines().collect();
        assert_eq!(lines.len(), RoleCalls::LINES_BESIDES_ROWS + 6);
        assert!(lines[3].contains("call16"), "the largest total first: {}", tables[0]);
        assert_eq!(lines.last(), Some(&" 12 more system calls"));
    }
}
