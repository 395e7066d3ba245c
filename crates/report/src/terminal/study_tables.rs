//! Tables of a study for display on a terminal.

use super::cells::new_table;
use super::width::wrap;
use crate::presentation::ShownTable;

/// Formats each table with its caption above and its notes below.
pub fn study_tables_text(tables: &[ShownTable], columns: usize) -> String {
    tables.iter().map(|table| table_text(table, columns)).collect::<Vec<_>>().join("\n\n")
}

fn table_text(shown: &ShownTable, columns: usize) -> String {
    let mut parts = vec![wrap(&shown.caption, columns)];
    if !shown.rows.is_empty() {
        let mut table = new_table(columns);
        table.set_header(&shown.header);
        table.add_rows(&shown.rows);
        parts.push(table.to_string());
    }
    parts.extend(shown.notes.iter().map(|note| wrap(note, columns)));
    parts.join("\n")
}
