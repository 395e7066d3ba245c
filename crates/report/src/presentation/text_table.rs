//! A table of figures as text, and its column of sizes.

use std::collections::BTreeSet;

use ipcperf_model::message_options::MessageOptions;
use ipcperf_results::analysis::CaseSummary;

/// Table of figures as text, for a page or a terminal.
#[derive(Clone, Debug)]
pub struct TextTable {
    /// Description of the figures and of the cases.
    pub heading: String,
    /// Headings of the columns.
    pub header: Vec<&'static str>,
    /// Cells of each row.
    pub rows: Vec<Vec<String>>,
    /// Lines below the table, such as the marks of its figures.
    pub notes: Vec<String>,
}

/// Size of the messages of the rows of a table. A column that has the same value everywhere would take the room of the
/// names, so a size that all rows have is part of the heading.
#[derive(Clone, Copy, Debug)]
pub(super) struct SizeColumn {
    common_bytes: Option<u64>,
    /// Of all rows, which have the same.
    options: MessageOptions,
}

impl SizeColumn {
    pub(super) fn new(cases: &[&CaseSummary]) -> Self {
        let sizes: BTreeSet<u64> = cases.iter().map(|case| case.case.buffer_bytes).collect();
        let options = cases.first().map(|case| case.case.message_options()).unwrap_or_default();
        Self { common_bytes: sizes.first().copied().filter(|_| sizes.len() == 1), options }
    }

    /// Returns the headings of the names: of the mechanism and, if they differ, of the sizes.
    pub(super) const fn names(self) -> &'static [&'static str] {
        match self.common_bytes {
            Some(_) => &["mechanism"],
            None => &["mechanism", "buffer"],
        }
    }

    /// Returns the cells with the name `series` of `case` and, if sizes differ, its size.
    pub(super) fn cells(self, series: String, case: &CaseSummary) -> impl Iterator<Item = String> {
        let size = self.common_bytes.is_none().then(|| case.case.size_text());
        std::iter::once(series).chain(size)
    }

    /// Returns the end of the heading: the size that all rows have.
    pub(super) fn heading_end(self) -> String {
        let named = |bytes| format!(", {}", self.options.size_text(bytes));
        self.common_bytes.map_or_else(String::new, named)
    }
}
