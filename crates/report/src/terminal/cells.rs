//! What tables are made of: their look, their cells, their rows.

use super::width::columns;
use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};
use ipcperf_results::analysis::CaseSummary;

/// One line, under the head: tables are read in terminals, logs and mails.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
/// More characters are not shown in one cell: to wrap a long word takes the square of its length,
/// and the words of a file may be of any.
const LONGEST_CELL: usize = 4_000;
/// All tables have their second column at the same place.
const NAMES: ColumnConstraint = ColumnConstraint::LowerBoundary(Width::Fixed(29));

/// A case and what tables call its series: with thousands of both, asked for once.
pub struct Row<'a> {
    /// The case.
    pub case: &'a CaseSummary,
    /// What tables call its series.
    pub series: String,
}

impl<'a> Row<'a> {
    /// The row of `case`.
    pub fn of(case: &'a CaseSummary) -> Self {
        Self { case, series: case.series() }
    }
}

/// `text`, cut where it is too long for a cell.
pub fn bounded(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST_CELL) {
        text.truncate(end);
        text += "...";
    }
    text
}

/// An empty table in the one style all have.
pub fn new_table() -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(columns()).unwrap_or(u16::MAX));
    table
}

/// Puts the second column where the other tables of the page have theirs.
pub fn align_with_topics(table: &mut Table) {
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(NAMES);
    }
}
