//! Tables of peers, of paced cases, of recommended waits, and of knees.

use comfy_table::CellAlignment;
use ipcperf_results::analysis::CaseSummary;

use super::cells::{new_table, truncate};
use super::width::wrap;
use crate::presentation::{
    KNEE_LEGEND, PACED_LEGEND, PEERS_LEGEND, TextTable, WAIT_LEGEND, knee_tables, paced_tables,
    peers_tables, wait_tables,
};

/// Formats the tables of the peers and of the paced cases of `summaries` and, below them, of recommended waits and of knees,
/// at most `columns` wide, with their legends. Empty without such cases.
pub(super) fn paced_texts(summaries: &[CaseSummary], columns: usize) -> Vec<String> {
    let with_legend = |tables: &[TextTable], legend| {
        let legend = (!tables.is_empty()).then(|| wrap(legend, columns));
        tables.iter().map(|table| text(table, columns)).chain(legend).collect::<Vec<_>>()
    };
    let peers = with_legend(&peers_tables(summaries), PEERS_LEGEND);
    let paced = with_legend(&paced_tables(summaries), PACED_LEGEND);
    let waits = with_legend(&wait_tables(summaries), WAIT_LEGEND);
    [peers, paced, waits, with_legend(&knee_tables(summaries), KNEE_LEGEND)].concat()
}

fn text(paced: &TextTable, columns: usize) -> String {
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
