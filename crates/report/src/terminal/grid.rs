//! Results by mechanism and size before layout, and their division into tables of limited width.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use comfy_table::{CellAlignment, ContentArrangement, Table};
use ipcperf_model::size::Bytes;
use ipcperf_results::analysis::CaseSummary;
use textwrap::core::display_width;
use textwrap::{Options, WordSplitter};

use super::cells::{CaseRow, new_table, truncate};

/// Width added by the table style to the first column, and to each further one.
const FIRST_COLUMN_PADDING: usize = 2;
const COLUMN_PADDING: usize = 3;
/// Maximum width of a heading on one line. A wider one is wrapped, unless a value below it is as wide.
const MAX_HEADER_WIDTH: usize = 20;
/// Minimum width to which names are wrapped to make room for values.
const MIN_NAME_WIDTH: usize = 8;

/// Results under one heading, by series and size.
#[derive(Clone, Debug)]
pub struct ResultsTable {
    series: Vec<String>,
    sizes: Vec<u64>,
    /// Cell text by index in `series` and size.
    cells: HashMap<(usize, u64), String>,
}

/// Results arranged in rows and columns.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Heading of the row names.
    pub corner: &'static str,
    pub header: Vec<String>,
    /// Name and cells of each row. A cell may have several lines.
    pub rows: Vec<(String, Vec<String>)>,
}

impl ResultsTable {
    /// Creates the results of `rows`; `content` formats a case.
    pub(super) fn from_rows(rows: &[&CaseRow], content: impl Fn(&CaseSummary) -> String) -> Self {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let (mut series, mut cells) = (Vec::new(), HashMap::new());
        for CaseRow { case, series: name } in rows {
            let place = *places.entry(name).or_insert_with(|| {
                series.push(truncate(name.clone()));
                series.len() - 1
            });
            cells.entry((place, case.case.buffer_bytes)).or_insert_with(|| truncate(content(case)));
        }
        let sizes: BTreeSet<u64> = rows.iter().map(|row| row.case.case.buffer_bytes).collect();
        Self { series, sizes: sizes.into_iter().collect(), cells }
    }

    /// Puts sizes across if they fit side by side or are not more than the series; otherwise down.
    pub fn layout(&self, columns: usize) -> Grid {
        let across = self.sizes_across();
        let fits = || across.column_ranges(columns, across.name_width(columns)).len() == 1;
        if self.sizes.len() <= self.series.len() || fits() { across } else { self.sizes_down() }
    }

    fn cell(&self, series: usize, bytes: u64) -> String {
        self.cells.get(&(series, bytes)).cloned().unwrap_or_default()
    }

    fn size_names(&self) -> impl Iterator<Item = String> {
        self.sizes.iter().map(|&bytes| Bytes(bytes).to_string())
    }

    fn sizes_across(&self) -> Grid {
        let row = |(place, name): (usize, &String)| {
            (name.clone(), self.sizes.iter().map(|&bytes| self.cell(place, bytes)).collect())
        };
        let rows = self.series.iter().enumerate().map(row).collect();
        Grid { corner: "mechanism", header: self.size_names().collect(), rows }
    }

    fn sizes_down(&self) -> Grid {
        let places = 0..self.series.len();
        let row = |&bytes: &u64| places.clone().map(|place| self.cell(place, bytes)).collect();
        let rows = self.size_names().zip(self.sizes.iter().map(row)).collect();
        Grid { corner: "buffer", header: self.series.clone(), rows }
    }
}

impl Grid {
    /// Splits the grid into tables of at most `columns` characters, each with all rows. A line of a cell is only broken
    /// if it alone is wider than that.
    pub fn tables(&self, columns: usize) -> Vec<Table> {
        let name_width = self.name_width(columns);
        let parts = self.column_ranges(columns, name_width).into_iter();
        parts.map(|part| self.table(part, name_width, columns)).collect()
    }

    /// Returns the width of the row names: their natural width, or less if the widest value would not fit next to them.
    fn name_width(&self, columns: usize) -> usize {
        let names = self.rows.iter().map(|(name, _)| display_width(name));
        let natural = names.chain([display_width(self.corner)]).max().unwrap_or(0);
        let widest =
            (0..self.header.len()).map(|column| self.column_width(column)).max().unwrap_or(0);
        let room = columns.saturating_sub(FIRST_COLUMN_PADDING + COLUMN_PADDING + widest);
        natural.min(room.max(MIN_NAME_WIDTH))
    }

    /// Returns the width of a column of values.
    fn column_width(&self, column: usize) -> usize {
        let head = display_width(&self.header[column]);
        let figures = self.value_width(column);
        figures.max(head.min(MAX_HEADER_WIDTH))
    }

    fn value_width(&self, column: usize) -> usize {
        let lines = self.rows.iter().flat_map(|(_, cells)| cells[column].lines());
        lines.map(display_width).max().unwrap_or(0)
    }

    /// Returns the columns of each table: as few tables as possible, with about the same number of columns in each.
    fn column_ranges(&self, columns: usize, name_width: usize) -> Vec<Range<usize>> {
        let room = columns.saturating_sub(FIRST_COLUMN_PADDING + name_width);
        let full = self.greedy_column_ranges(room);
        let (all, each) = (self.header.len(), self.header.len().div_ceil(full.len()));
        let starts = (0..all).step_by(each.max(1));
        let even: Vec<Range<usize>> = starts.map(|start| start..(start + each).min(all)).collect();
        let fits = |part: &Range<usize>| {
            part.clone().map(|c| COLUMN_PADDING + self.column_width(c)).sum::<usize>() <= room
        };
        if even.iter().all(fits) { even } else { full }
    }

    /// Returns the columns of each table, with as many columns in each as fit.
    fn greedy_column_ranges(&self, room: usize) -> Vec<Range<usize>> {
        let (mut parts, mut start, mut used) = (Vec::new(), 0, 0);
        for column in 0..self.header.len() {
            let width = COLUMN_PADDING + self.column_width(column);
            if used + width > room && column > start {
                parts.push(start..column);
                (start, used) = (column, 0);
            }
            used += width;
        }
        parts.push(start..self.header.len());
        parts
    }

    fn table(&self, part: Range<usize>, name_width: usize, columns: usize) -> Table {
        let mut table = new_table(columns);
        // All widths are already determined.
        table.set_content_arrangement(ContentArrangement::Disabled);
        let figures = part.len();
        let head =
            part.clone().map(|column| wrap_name(&self.header[column], self.column_width(column)));
        table.set_header(std::iter::once(self.corner.to_owned()).chain(head));
        for (name, cells) in &self.rows {
            let cells = cells[part.clone()].iter().cloned();
            table.add_row(std::iter::once(wrap_name(name, name_width)).chain(cells));
        }
        for column in table.column_iter_mut().skip(1).take(figures) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table
    }
}

/// Wraps a name to `width`, preferably at spaces and hyphens.
fn wrap_name(name: &str, width: usize) -> String {
    let options = Options::new(width).word_splitter(WordSplitter::HyphenSplitter);
    textwrap::wrap(name, options).join("\n")
}
