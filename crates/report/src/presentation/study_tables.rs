//! Presentation of the tables that a study defines.

use std::collections::BTreeMap;

use ipcperf_results::Sample;
use ipcperf_results::analysis::Spread;
use ipcperf_study::hypothesis::{Line, Point, lines, lost_lines};
use ipcperf_study::{
    Better, ColumnContent, Metric, RowContent, Selection, SpreadKind, Study, StudyTable,
};

use super::plot_data::{excluded_note, metric_name};
use super::shown_table::ShownTable;
use super::{Source, machines};
use crate::wording::{amount, metric_text};

/// A column with its values.
struct ColumnValues<'a> {
    header: String,
    lines: Vec<Line<'a>>,
    unit: String,
    better: Better,
}

/// The columns of a file.
struct FileColumns<'s, 'a> {
    source: &'s Source<'a>,
    columns: Vec<ColumnValues<'a>>,
}

/// Returns all tables of `study`. With several files, the machine becomes a factor.
pub(super) fn present_all(study: &Study, sources: &[Source<'_>]) -> Vec<ShownTable> {
    study.tables.iter().map(|table| present(table, sources)).collect()
}

fn present(table: &StudyTable, sources: &[Source<'_>]) -> ShownTable {
    if table.lists_machines() {
        return machines::present(table, sources);
    }
    let file_columns = |source| FileColumns { source, columns: columns(table, source) };
    let files: Vec<FileColumns<'_, '_>> = sources.iter().map(file_columns).collect();
    let heads = headers(&files);
    let mut notes: Vec<String> = table.caption().map(str::to_owned).into_iter().collect();
    notes.extend(files.iter().flat_map(|file| file.notes(table)));
    let row_head =
        if table.rows.is_empty() { table.row_factor().replace('_', " ") } else { String::new() };
    let machine = (sources.len() > 1).then(|| "machine".to_owned());
    ShownTable {
        caption: format!("Table {}: {}", table.number(), table.title()),
        rows: rows(table, &files, &heads),
        header: std::iter::once(row_head).chain(machine).chain(heads).collect(),
        notes,
    }
}

/// Returns the headings of all columns, without duplicates.
fn headers(files: &[FileColumns<'_, '_>]) -> Vec<String> {
    let mut heads: Vec<String> = Vec::new();
    for head in files.iter().flat_map(|file| &file.columns).flat_map(ColumnValues::headers) {
        if !heads.contains(&head) {
            heads.push(head);
        }
    }
    heads
}

/// Returns a row for each level. With several files, there is a row for each machine that has the level.
fn rows(table: &StudyTable, files: &[FileColumns<'_, '_>], heads: &[String]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for level in levels(files) {
        for file in files {
            let cells = file.cells(table, &level.label);
            let cell = |head: &String| {
                let found = cells.iter().find(|(above, _)| above == head);
                found.map_or_else(String::new, |(_, cell)| cell.clone())
            };
            let cells: Vec<String> = heads.iter().map(cell).collect();
            if files.len() == 1 || cells.iter().any(|cell| !cell.is_empty()) {
                let machine = file.source.letter.map(String::from);
                rows.push(
                    std::iter::once(level.label.clone()).chain(machine).chain(cells).collect(),
                );
            }
        }
    }
    rows
}

/// Returns the levels of all columns in order.
fn levels<'p>(files: &'p [FileColumns<'_, '_>]) -> Vec<&'p Point> {
    let lines = files.iter().flat_map(|file| &file.columns).flat_map(|column| &column.lines);
    let mut levels: Vec<&Point> = Vec::new();
    for point in lines.flat_map(|line| &line.points) {
        if !levels.iter().any(|known| known.label == point.label) {
            levels.push(point);
        }
    }
    levels.sort_by(|one, other| one.x.total_cmp(&other.x));
    levels
}

impl FileColumns<'_, '_> {
    /// Returns the cells of a level, each with the heading of its column.
    fn cells(&self, table: &StudyTable, level: &str) -> Vec<(String, String)> {
        let column_cells = |column: &ColumnValues<'_>| {
            let cells = column.cells(level, table.spread());
            column.headers().into_iter().zip(cells).collect::<Vec<_>>()
        };
        self.columns.iter().flat_map(column_cells).collect()
    }

    /// Returns notes on missing measurements and excluded runs.
    fn notes(&self, table: &StudyTable) -> Vec<String> {
        let cells = &self.source.cells;
        let has_none = self.columns.iter().all(|column| column.lines.is_empty());
        let missing = has_none.then(|| {
            let (cases, metric) = table.example();
            format!("Not measured: {}.", cells.explain_unmeasured(&cases, &metric))
        });
        // If nothing was measured, no runs are reported as excluded, whatever else the file contains.
        let excluded = (!has_none)
            .then(|| excluded_note(&cells.excluded_counts(&column_cases(table))))
            .flatten();
        let notes = missing.into_iter().chain(excluded);
        notes.map(|note| self.source.heading(&[&note])).collect()
    }
}

/// Returns the cases of the columns, or those of the whole table if it names no columns.
fn column_cases(table: &StudyTable) -> Vec<Selection> {
    let cases = |of: &ColumnContent| match of {
        ColumnContent::Cases(cases, _) => Some(cases.clone()),
        ColumnContent::Best(_) | ColumnContent::Ratio(..) => None,
    };
    let columns = table.columns.iter().filter_map(|column| cases(&column.content));
    let columns: Vec<Selection> = columns.collect();
    if columns.is_empty() { vec![table.cases()] } else { columns }
}

fn columns<'a>(table: &StudyTable, source: &Source<'a>) -> Vec<ColumnValues<'a>> {
    if table.columns.is_empty() {
        let metrics = table.metrics();
        let is_one = metrics.len() == 1;
        let column = |metric: &Metric| {
            let lines = measured_lines(table, source, &table.cases(), metric);
            let head = if is_one && lines.len() > 1 {
                String::new()
            } else {
                metric_name(metric, example(&lines))
            };
            ColumnValues::new(head, lines, metric)
        };
        return metrics.iter().map(column).collect();
    }
    let mut filled: Vec<ColumnValues<'a>> = Vec::new();
    for column in &table.columns {
        let next = match &column.content {
            ColumnContent::Cases(cases, metric) => {
                let lines = measured_lines(table, source, cases, metric);
                ColumnValues::new(column.name.clone(), lines, metric)
            }
            ColumnContent::Best(places) => drop_incomplete_rows(
                best_column(&column.name, places, &filled),
                places,
                table,
                source,
            ),
            ColumnContent::Ratio(one, other) => ratio_column(&column.name, *one, *other, &filled),
        };
        filled.push(next);
    }
    filled
}

/// Returns the lines of `cases`, with a point for each row.
fn measured_lines<'a>(
    table: &StudyTable,
    source: &Source<'a>,
    cases: &Selection,
    metric: &Metric,
) -> Vec<Line<'a>> {
    let lines_of = |cases: &Selection, metric: &Metric| {
        lines(&source.cells, cases, table.row_factor(), metric)
    };
    if table.rows.is_empty() {
        return lines_of(cases, metric);
    }
    let mut rowed: Vec<Line<'a>> = Vec::new();
    for (place, row) in table.rows.iter().enumerate() {
        if let RowContent::Fields(own, fields) = &row.content {
            let found = lines_of(&cases.intersection(own), &metric.restricted_to(fields));
            for (number, line) in found.into_iter().enumerate() {
                add_row(&mut rowed, line, number, (place, &row.name));
            }
        }
    }
    for line in &mut rowed {
        add_sums(line, table);
    }
    rowed
}

/// Adds `line`, the `number`th of its row, as the row at `place`, with all its levels merged. It is added to the line
/// in `rowed` that has the same levels, or, if the rows select different cases, to the line with the same number.
fn add_row<'a>(
    rowed: &mut Vec<Line<'a>>,
    line: Line<'a>,
    number: usize,
    (place, name): (usize, &str),
) {
    let values = line.points.iter().flat_map(|point| point.values.clone()).collect();
    let point = Point { x: row_position(place), is_number: false, label: name.to_owned(), values };
    let known = rowed.iter().position(|known| known.levels == line.levels);
    match known.or_else(|| Some(number).filter(|number| *number < rowed.len())) {
        Some(known) => rowed[known].points.push(point),
        None => rowed.push(Line { points: vec![point], ..line }),
    }
}

/// Adds the rows that are sums, for the blocks that have all summands.
fn add_sums(line: &mut Line<'_>, table: &StudyTable) {
    for (place, row) in table.rows.iter().enumerate() {
        let RowContent::Sum(places) = &row.content else { continue };
        let summed = |block: &u32| {
            let value = |place: &usize| {
                let row = line
                    .points
                    .iter()
                    .find(|point| point.x.total_cmp(&row_position(*place)).is_eq());
                row?.values.get(block).copied()
            };
            Some((*block, places.iter().map(value).sum::<Option<f64>>()?))
        };
        let values: BTreeMap<u32, f64> = line.blocks().iter().filter_map(summed).collect();
        if !values.is_empty() {
            line.points.push(Point {
                x: row_position(place),
                is_number: false,
                label: row.name.clone(),
                values,
            });
        }
    }
}

/// Returns the position of the row at `place`.
#[allow(clippy::cast_precision_loss, reason = "a place in a list")]
fn row_position(place: usize) -> f64 {
    (place + 1) as f64
}

fn example<'a>(lines: &[Line<'a>]) -> Option<&'a Sample> {
    lines.iter().find_map(|line| line.example)
}

/// Returns the best of the columns at `indices`, at each level and in each block.
fn best_column<'a>(head: &str, indices: &[usize], filled: &[ColumnValues<'a>]) -> ColumnValues<'a> {
    let selected = || indices.iter().map(|place| &filled[*place]);
    let better = selected().next().map_or(Better::Higher, |column| column.better);
    let mut all = selected().flat_map(|column| column.lines.iter().cloned());
    let merged =
        all.next().map(|first| all.fold(first, |best, line| best.merge_best(&line, better)));
    let unit = selected().next().map_or_else(String::new, |column| column.unit.clone());
    ColumnValues { header: head.to_owned(), lines: merged.into_iter().collect(), unit, better }
}

/// Removes from `column`, the best of those at `indices`, the rows at which one of these has no valid run. The best of
/// the remaining columns need not be the best overall.
fn drop_incomplete_rows<'a>(
    mut column: ColumnValues<'a>,
    places: &[usize],
    table: &StudyTable,
    source: &Source<'a>,
) -> ColumnValues<'a> {
    for place in places {
        if let ColumnContent::Cases(cases, _) = &table.columns[*place].content {
            let lost = lost_lines(&source.cells, cases, table.row_factor());
            let without = |line| lost.iter().fold(line, Line::without_lost);
            column.lines = column.lines.into_iter().map(without).collect();
        }
    }
    column
}

/// Divides the column at `one` by that at `other`. Each line is divided by the only line of the other column, or by the
/// line that shares everything except the mechanism.
fn ratio_column<'a>(
    head: &str,
    one: usize,
    other: usize,
    filled: &[ColumnValues<'a>],
) -> ColumnValues<'a> {
    let (over, under) = (&filled[one].lines, &filled[other].lines);
    let anything = ["mechanism".to_owned()].into();
    let divided = |line: &Line<'a>| {
        let below = match under.as_slice() {
            [only] => Some(only),
            several => several.iter().find(|below| below.matches_except(line, &anything)),
        };
        below.map(|below| line.divided_by(below))
    };
    let lines = over.iter().filter_map(divided).collect();
    ColumnValues { header: head.to_owned(), lines, unit: String::new(), better: Better::Higher }
}

impl<'a> ColumnValues<'a> {
    fn new(head: String, lines: Vec<Line<'a>>, metric: &Metric) -> Self {
        let example = example(&lines);
        let (unit, better) = (metric.unit(example).to_owned(), metric.better(example));
        Self { header: head, lines, unit, better }
    }

    /// Returns its headings, one for each line.
    fn headers(&self) -> Vec<String> {
        let named = |line: &Line<'a>| match (self.header.as_str(), line.name.trim()) {
            ("", name) => name.to_owned(),
            (head, name) => format!("{head}: {name}"),
        };
        match self.lines.as_slice() {
            [] | [_] => vec![self.header.clone()],
            several => several.iter().map(named).collect(),
        }
    }

    /// Returns its cells at a level, one for each heading.
    fn cells(&self, level: &str, spread_kind: SpreadKind) -> Vec<String> {
        if self.lines.is_empty() {
            return vec![String::new()];
        }
        let cell = |line: &Line<'a>| {
            let point = line.points.iter().find(|point| point.label == level)?;
            let spread = Spread::from_values(&point.all_values())?;
            let value = amount(spread.median, &self.unit);
            Some(match spread_kind {
                SpreadKind::Iqr => format!("{value} ({})", metric_text::spread_or_n(&spread)),
                SpreadKind::Range if spread.quartiles().is_none() => {
                    format!("{value} (n = {})", spread.n)
                }
                SpreadKind::Range => {
                    let ends = point.values.values().copied();
                    let low = ends.clone().fold(f64::INFINITY, f64::min);
                    let high = ends.fold(f64::NEG_INFINITY, f64::max);
                    format!("{value} ({} to {})", amount(low, &self.unit), amount(high, &self.unit))
                }
            })
        };
        self.lines.iter().map(|line| cell(line).unwrap_or_default()).collect()
    }
}
