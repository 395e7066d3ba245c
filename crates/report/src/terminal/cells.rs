//! Style, cells and rows of tables.

use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};
use ipcperf_results::analysis::CaseSummary;

/// A single line below the header, for terminals, logs and mails.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
/// Maximum number of characters in a cell. Wrapping a long word takes quadratic time, and words in a file can have any
/// length.
const MAX_CELL_CHARS: usize = 4_000;
/// Width of the first column, so that the second column of all tables is aligned.
const FIRST_COLUMN: ColumnConstraint = ColumnConstraint::LowerBoundary(Width::Fixed(29));

/// A case with the name of its series, which is computed only once because a file may have thousands of cases.
pub(super) struct CaseRow<'a> {
    /// The case.
    pub(super) case: &'a CaseSummary,
    /// Name of the series.
    pub(super) series: String,
}

impl<'a> CaseRow<'a> {
    /// Creates the row of `case`.
    pub(super) fn new(case: &'a CaseSummary) -> Self {
        Self { case, series: case.series() }
    }
}

/// Truncates `text` to the maximum length of a cell.
pub(super) fn truncate(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_CELL_CHARS) {
        text.truncate(end);
        text += "...";
    }
    text
}

/// Creates an empty table in the common style, at most `columns` wide.
pub fn new_table(columns: usize) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(columns).unwrap_or(u16::MAX));
    table
}

/// Aligns the second column with the other tables of the page.
pub(super) fn align_second_column(table: &mut Table) {
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(FIRST_COLUMN);
    }
}
