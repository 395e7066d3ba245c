//! Observations of instruments as text: tables, histograms in the style of `DTrace`'s `quantize`, and time lines.

use comfy_table::CellAlignment;
use ipcperf_model::instrument_view::{
    InstrumentView, Lane, Log2Histogram, Span, State, Table, Timeline, Value,
};
use ipcperf_model::units;

use super::cells::new_table;

/// Maximum length of a histogram bar, characters.
const MAX_BAR_CHARS: usize = 40;
/// Width of the label of a bar or lane, characters.
const LABEL_WIDTH: usize = 14;

/// Formats `picture` within `columns` characters.
pub(crate) fn view_text(picture: &InstrumentView, columns: usize) -> String {
    match picture {
        InstrumentView::Table(table) => table_text(table, columns),
        InstrumentView::Log2Histogram(quantised) => histogram_text(quantised),
        InstrumentView::Timeline(timeline) => timeline_text(timeline, columns),
    }
}

/// Formats a value of a table with its unit.
#[allow(clippy::cast_precision_loss, reason = "for people, and three digits are left")]
pub fn value_text(value: &Value) -> String {
    match value {
        Value::Text(words) => words.clone(),
        Value::Count(count) => count.to_string(),
        // Digits after the point would suggest a precision that zero does not need.
        Value::Ns(0) => "0 ns".to_owned(),
        Value::Ns(ns) => units::time(*ns as f64),
        Value::Bytes(bytes) => units::bytes(*bytes),
        Value::Share(share) => units::percent(*share),
        Value::Absent => "-".to_owned(),
    }
}

/// Formats `amount` in the unit of `kind`.
pub fn amount_text(kind: &Value, amount: u64) -> String {
    value_text(&match kind {
        Value::Ns(_) => Value::Ns(amount),
        Value::Bytes(_) => Value::Bytes(amount),
        _ => Value::Count(amount),
    })
}

fn table_text(table: &Table, columns: usize) -> String {
    let mut grid = new_table(columns);
    grid.set_header(&table.headings);
    for row in &table.rows {
        grid.add_row(row.iter().map(value_text));
    }
    for (index, column) in grid.column_iter_mut().enumerate() {
        let is_text = |row: &Vec<Value>| matches!(row.get(index), Some(Value::Text(_)));
        if !table.rows.iter().any(is_text) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{}\n{grid}", table.title)
}

fn histogram_text(histogram: &Log2Histogram) -> String {
    let total = histogram.rows.iter().map(|row| u128::from(row.1)).sum::<u128>().max(1);
    let line = |&(least, count): &(u64, u64)| {
        let from = amount_text(&histogram.kind, least);
        let bar = "@".repeat(bar_length(count, total));
        format!("{from:>LABEL_WIDTH$} |{bar:<MAX_BAR_CHARS$} {count}")
    };
    let head = format!("{:>LABEL_WIDTH$}  {:-^MAX_BAR_CHARS$} count", "from", " distribution ");
    let lines: Vec<String> = histogram.rows.iter().map(line).collect();
    format!("{}\n{head}\n{}", histogram.title, lines.join("\n"))
}

/// Returns the length of a bar for `count` of `total`: its share of [`MAX_BAR_CHARS`], but at least 1 if `count` is not
/// 0.
fn bar_length(count: u64, total: u128) -> usize {
    let letters = u128::from(count) * MAX_BAR_CHARS as u128 / total;
    usize::try_from(letters).unwrap_or(MAX_BAR_CHARS).max(usize::from(count > 0)).min(MAX_BAR_CHARS)
}

fn timeline_text(timeline: &Timeline, columns: usize) -> String {
    let width = columns.saturating_sub(LABEL_WIDTH + 2).clamp(10, 100);
    let lane = |lane: &Lane| {
        let letters: String =
            (0..width).map(|at| state_char(lane, at, width, timeline.end_ns)).collect();
        format!("{:>LABEL_WIDTH$} |{letters}", lane.label)
    };
    let lanes: Vec<String> = timeline.lanes.iter().map(lane).collect();
    let end = amount_text(&Value::Ns(0), timeline.end_ns);
    format!(
        "{} (to {end}; # running, - waiting for a CPU, . sleeping)\n{}",
        timeline.title,
        lanes.join("\n")
    )
}

/// Returns the letter for the state that `lane` was in for most of piece `at` of `width`.
fn state_char(lane: &Lane, at: usize, width: usize, end_ns: u64) -> char {
    let edge = |at: usize| u128::from(end_ns) * at as u128 / width as u128;
    let (from, to) = (edge(at), edge(at + 1).max(edge(at) + 1));
    let shared = |span: &Span| {
        let (start, end) = (u128::from(span.from_ns).max(from), u128::from(span.to_ns).min(to));
        end.saturating_sub(start)
    };
    let time_in = |state: State| -> u128 {
        lane.spans.iter().filter(|span| span.state == state).map(shared).sum()
    };
    let states = [(State::Running, '#'), (State::Runnable, '-'), (State::Asleep, '.')];
    let longest = states.into_iter().max_by_key(|(state, _)| time_in(*state));
    longest.filter(|(state, _)| time_in(*state) > 0).map_or(' ', |(_, letter)| letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_is_drawn_as_shares_of_all() {
        let rows = vec![(256, 90), (512, 9), (1024, 0), (2048, 1)];
        let drawn = Log2Histogram { title: "write".to_owned(), kind: Value::Ns(0), rows };
        let text = view_text(&InstrumentView::Log2Histogram(drawn), 80);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 6);
        let bar = |line: &str| line.matches('@').count();
        assert_eq!([2, 3, 4, 5].map(|index| bar(lines[index])), [36, 3, 0, 1], "{text}");
        assert!(
            lines[2].trim_start().starts_with("256 ns |@") && lines[5].ends_with(" 1"),
            "{text}"
        );
    }

    #[test]
    fn a_time_line_says_what_was_done_most() {
        let span = |from_ns, to_ns, state| Span { from_ns, to_ns, state };
        let spans = vec![span(0, 60, State::Running), span(60, 100, State::Asleep)];
        let lanes = vec![Lane { label: "sender".to_owned(), spans }];
        let line = Timeline { title: "who ran".to_owned(), end_ns: 200, lanes };
        let text = view_text(&InstrumentView::Timeline(line), 36);
        let letters = text.lines().last().unwrap().split_once('|').unwrap().1;
        assert_eq!(letters, "######....          ", "{text}");
    }

    #[test]
    fn what_could_not_be_had_is_no_zero() {
        assert_eq!(value_text(&Value::Absent), "-");
        assert_eq!(value_text(&Value::Ns(1_500)), "1.50 µs");
        assert_eq!(value_text(&Value::Ns(0)), "0 ns");
    }
}
