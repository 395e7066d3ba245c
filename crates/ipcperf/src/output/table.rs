//! Tables of results: one for each workload, mode, placement and kernel buffer, mechanisms down
//! and sizes across, or the other way round where there are more sizes than fit.

use std::collections::{BTreeSet, HashMap, HashSet};

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use ipcperf_engine::workload::Kind;

use super::heading::{Beside, Heading, headings};
use super::units;
use crate::parallel::map;
use crate::plan::Bytes;
use crate::summary::{CaseSummary, Figure, Mode, moves_nothing};

/// Columns of figures that fit a terminal of 100 characters.
const COLUMNS: usize = 4;
/// One line, under the head: tables are read in terminals, logs and mails.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
/// What a table is laid out for where there is no terminal to ask.
const WIDTH: u16 = 116;

/// Behind a figure for round trips that have several modes, which the notes list.
pub(super) const SEVERAL_MODES: &str = " †";

/// A case and what tables call its series.
struct Row<'a> {
    case: &'a CaseSummary,
    series: String,
}

impl<'a> Row<'a> {
    fn of(case: &'a CaseSummary) -> Self {
        Self { case, series: case.series() }
    }
}

/// All tables of `summaries`, with what they leave out below.
pub(crate) fn tables(summaries: &[CaseSummary], beside: Beside) -> String {
    let rows: Vec<Row> = summaries.iter().map(Row::of).collect();
    let measured = measured_series(&rows);
    let headings = headings(summaries);
    let mut parts: Vec<String> =
        map(headings.iter(), |heading| group(heading, &rows, &measured, beside));
    parts.extend(refusals(summaries));
    parts.join("\n\n")
}

/// The series that are more than refused.
fn measured_series<'a>(rows: impl IntoIterator<Item = &'a Row<'a>>) -> HashSet<&'a str> {
    let measured = rows.into_iter().filter(|row| row.case.refused.is_none());
    measured.map(|row| row.series.as_str()).collect()
}

/// A table. A refused cell is shown with the figures of its own series, or, where that has none in
/// any table (`measured` has those that do), everywhere.
fn group(heading: &Heading, rows: &[Row], measured: &HashSet<&str>, beside: Beside) -> String {
    let mut rows: Vec<&Row> = rows.iter().filter(|row| heading.covers(row.case)).collect();
    let here = measured_series(rows.iter().copied());
    rows.retain(|row| {
        let series = row.series.as_str();
        row.case.refused.is_none() || here.contains(series) || !measured.contains(series)
    });
    let text = heading.text(&repetitions(&rows), beside);
    let mut parts = vec![text];
    parts.extend(grids(&rows, &|case| cell(case, beside)).iter().map(Table::to_string));
    let bounded: Vec<&Row> = rows.into_iter().filter(|row| row.case.roof.is_some()).collect();
    if !bounded.is_empty() {
        parts.push("As a share of the limit of this machine that bounds it:".to_owned());
        parts.extend(grids(&bounded, &roof).iter().map(Table::to_string));
    }
    parts.join("\n")
}

/// How near a case comes to the limit that bounds it.
fn roof(case: &CaseSummary) -> String {
    case.roof.as_ref().map_or_else(String::new, |roof| {
        format!("{} of {}", units::percent(roof.share), roof.bound.name())
    })
}

/// How many repetitions the medians of `rows` are of.
fn repetitions(rows: &[&Row]) -> String {
    let counts = || rows.iter().filter_map(|row| row.case.main()).map(|figure| figure.spread().n);
    match (counts().min(), counts().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (_, most) => most.unwrap_or(0).to_string(),
    }
}

/// The cells of one heading, by series and size.
struct Cells<'a> {
    /// In the order in which they were first seen.
    series: Vec<&'a str>,
    /// Ascending.
    sizes: Vec<u64>,
    cases: HashMap<(&'a str, u64), &'a CaseSummary>,
}

impl<'a> Cells<'a> {
    fn of(rows: &[&'a Row<'a>]) -> Self {
        let place = |row: &&'a Row<'a>| (row.series.as_str(), row.case.case.buffer_bytes);
        let mut cells = Self { series: Vec::new(), sizes: Vec::new(), cases: HashMap::new() };
        let mut seen = HashSet::new();
        cells.series.extend(rows.iter().map(|row| place(row).0).filter(|name| seen.insert(*name)));
        let sizes: BTreeSet<u64> = rows.iter().map(|row| place(row).1).collect();
        cells.sizes.extend(sizes);
        for row in rows {
            // Of two cases in one place the first is shown.
            cells.cases.entry(place(row)).or_insert(row.case);
        }
        cells
    }

    fn text(&self, name: &str, bytes: u64, content: &dyn Fn(&CaseSummary) -> String) -> String {
        self.cases.get(&(name, bytes)).map_or_else(String::new, |case| content(case))
    }
}

/// The cells of one heading, in tables of at most [`COLUMNS`] columns of figures.
fn grids(rows: &[&Row], content: &dyn Fn(&CaseSummary) -> String) -> Vec<Table> {
    let cells = Cells::of(rows);
    let size = |bytes: u64| Bytes(bytes).to_string();
    if cells.sizes.len() <= COLUMNS || cells.sizes.len() <= cells.series.len() {
        let across = |part: &[u64]| {
            let row = |name: &&str| part.iter().map(|&b| cells.text(name, b, content)).collect();
            let rows = cells.series.iter().map(|name| ((*name).to_owned(), row(name)));
            table("mechanism", part.iter().copied().map(size).collect(), rows.collect())
        };
        return cells.sizes.chunks(COLUMNS).map(across).collect();
    }
    let down = |part: &[&str]| {
        let row = |bytes| part.iter().map(|name| cells.text(name, bytes, content)).collect();
        let rows = cells.sizes.iter().map(|&bytes| (size(bytes), row(bytes)));
        table("buffer", part.iter().map(|name| (*name).to_owned()).collect(), rows.collect())
    };
    cells.series.chunks(COLUMNS).map(down).collect()
}

fn table(corner: &str, head: Vec<String>, rows: Vec<(String, Vec<String>)>) -> Table {
    let mut table = new_table();
    let figures = head.len();
    table.set_header(std::iter::once(corner.to_owned()).chain(head).map(bounded));
    for (name, cells) in rows {
        table.add_row(std::iter::once(name).chain(cells).map(bounded));
    }
    for column in table.column_iter_mut().skip(1).take(figures) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// More characters are not shown in one cell: to wrap a long word takes the square of its length,
/// and the words of a file may be of any.
const LONGEST_CELL: usize = 4_000;

/// `text`, cut where it is too long for a cell.
pub(super) fn bounded(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST_CELL) {
        text.truncate(end);
        text += "...";
    }
    text
}

/// An empty table in the one style all have.
pub(super) fn new_table() -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic);
    if table.width().is_none() {
        table.set_width(WIDTH);
    }
    table
}

fn cell(case: &CaseSummary, beside: Beside) -> String {
    if case.refused.is_some() {
        return "refused".to_owned();
    }
    let Some(figure) = case.main() else {
        return no_figure(case);
    };
    let mut text = if case.modes.is_empty() {
        one_middle(&figure, case.median_interval, beside)
    } else {
        several_modes(&figure, &case.modes)
    };
    if !case.round_trip_modes.is_empty() {
        text += SEVERAL_MODES;
    }
    if let Some(lost) = case.lost_share.filter(|lost| lost.median > 0.0) {
        text += &format!("\n{} lost", units::percent(lost.median));
    }
    if case.failed > 0 {
        text += &format!("\n{} failed", case.failed);
    }
    text
}

fn no_figure(case: &CaseSummary) -> String {
    match (case.failed, case.disturbed) {
        (0, 0) => "none kept".to_owned(),
        (0, disturbed) => {
            let not_believed = case.disturbed_median.map(|value| match case.case.workload {
                Kind::Stream if !moves_nothing(&case.case.mechanism) => units::bandwidth(value),
                Kind::Stream | Kind::RoundTrip => units::time(value),
            });
            format!("? {}\n{disturbed} disturbed", not_believed.unwrap_or_default())
        }
        _ => "failed".to_owned(),
    }
}

fn one_middle(figure: &Figure, interval: Option<[f64; 2]>, beside: Beside) -> String {
    let each = if matches!(figure, Figure::PerMessage(_)) { " each" } else { "" };
    let (median, spread) = (units::median(figure), figure.spread());
    match (beside, interval) {
        (Beside::Interval, Some([low, high])) => {
            let half = units::percent((high - low) / 2.0 / spread.median);
            format!("{median}{each} ± {half}")
        }
        (Beside::Interval, None) => format!("{median}{each}"),
        (Beside::Spread, _) => format!("{median}{each} ({})", units::relative_iqr(&spread)),
    }
}

/// Each mode with its share: one middle would stand for none of them.
fn several_modes(figure: &Figure, modes: &[Mode]) -> String {
    let line = |mode: &Mode| {
        format!("{}: {}", units::percent(mode.share), units::value(figure, mode.median))
    };
    modes.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Each reason for a refusal once, with the cells it holds for.
fn refusals(summaries: &[CaseSummary]) -> Option<String> {
    let mut reasons: Vec<(&str, BTreeSet<u64>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for summary in summaries {
        let Some(reason) = &summary.refused else {
            continue;
        };
        let place = *places.entry(reason).or_insert_with(|| {
            reasons.push((reason, BTreeSet::new()));
            reasons.len() - 1
        });
        reasons[place].1.insert(summary.case.buffer_bytes);
    }
    let line = |(reason, sizes): &(&str, BTreeSet<u64>)| {
        let sizes: Vec<String> = sizes.iter().map(|&bytes| Bytes(bytes).to_string()).collect();
        format!("refused at {}: {reason}", sizes.join(", "))
    };
    (!reasons.is_empty()).then(|| reasons.iter().map(line).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::sample;
    use crate::summary::summarise;
    use crate::summary::{Bound, Roof};

    /// `null` and two others with scripted times: repetition k takes k per cent longer.
    fn scripted(workload: Kind, mechanisms: &[&str], sizes: &[u64]) -> Vec<CaseSummary> {
        let (mut cases, mut samples) = (Vec::new(), Vec::new());
        for (place, mechanism) in (1..).zip(mechanisms) {
            for &bytes in sizes {
                for block in 0..=7_u32 {
                    let elapsed_ns = place * 1_000 * (100 + u64::from(block));
                    samples.push(sample(mechanism, workload, bytes, block, elapsed_ns));
                }
                cases.push(samples[samples.len() - 1].run.case.case_id.clone());
            }
        }
        summarise(&cases, &[], &samples, &[], None)
    }

    #[test]
    fn few_sizes_stand_across() {
        let mut all = scripted(Kind::Stream, &["null", "pipe", "tcp"], &[64, 4096]);
        all.extend(scripted(Kind::RoundTrip, &["null", "pipe"], &[64, 4096]));
        insta::assert_snapshot!(tables(&all, Beside::Spread));
    }

    #[test]
    fn many_sizes_stand_down() {
        let sizes: Vec<u64> = (9..=15).map(|power| 1 << power).collect();
        insta::assert_snapshot!(tables(
            &scripted(Kind::Stream, &["null", "pipe"], &sizes),
            Beside::Spread
        ));
    }

    #[test]
    fn what_failed_was_lost_or_refused_is_in_its_cell() {
        let mut all = scripted(Kind::Stream, &["udp", "pipe", "tcp"], &[64]);
        all[0].lost_share =
            all[0].bandwidth_bytes_per_s.map(|s| crate::summary::Spread { median: 0.5, ..s });
        all[1].failed = 2;
        all[2].refused = Some("tcp is tired".to_owned());
        insta::assert_snapshot!(tables(&all, Beside::Spread));
    }

    #[test]
    fn modes_roofs_and_what_was_always_disturbed_are_in_their_cells() {
        let mut all = scripted(Kind::Stream, &["pipe", "tcp", "udp"], &[64]);
        all[0].modes =
            [(0.62, 1.3e9), (0.38, 5.8e9)].map(|(share, median)| Mode { share, median }).to_vec();
        all[2].round_trip_modes = all[0].modes.clone();
        all[0].roof = Some(Roof { bound: Bound::Copy, least_ns: 1.0, share: 0.17 });
        all[1].bandwidth_bytes_per_s = None;
        (all[1].disturbed, all[1].disturbed_median) = (7, Some(4.2e9));
        insta::assert_snapshot!(tables(&all, Beside::Interval));
    }
}
