//! Tables of paced cases.

use comfy_table::CellAlignment;
use ipcperf_results::analysis::CaseSummary;

use super::cells::{new_table, truncate};
use super::width::wrap;
use crate::presentation::{PACED_LEGEND, PacedTable, paced_tables};

/// Formats the tables of the paced cases of `summaries`, at most `columns` wide, and their legend. Empty if there are none.
pub(super) fn paced_texts(summaries: &[CaseSummary], columns: usize) -> Vec<String> {
    let tables = paced_tables(summaries);
    let legend = (!tables.is_empty()).then(|| wrap(PACED_LEGEND, columns));
    tables.iter().map(|table| text(table, columns)).chain(legend).collect()
}

fn text(paced: &PacedTable, columns: usize) -> String {
    let mut table = new_table(columns);
    table.set_header(&paced.header);
    for row in &paced.rows {
        table.add_row(row.iter().cloned().map(truncate));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let heading = wrap(&paced.heading, columns);
    let notes = paced.notes.iter().map(|line| wrap(line, columns));
    [heading, table.to_string()].into_iter().chain(notes).collect::<Vec<_>>().join("\n")
}
