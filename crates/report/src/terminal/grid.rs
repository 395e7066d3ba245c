//! Results by mechanism and size before layout, and their division into tables of limited width.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use comfy_table::{CellAlignment, ContentArrangement, Table};
use ipcperf_model::message_options::MessageOptions;
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
    /// Message options, which all results under a heading have.
    options: MessageOptions,
    /// Cell text by index in `series` and size.
    cells: HashMap<(usize, u64), String>,
}

/// Results arranged in rows and columns.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Heading of the row names.
    pub corner: &'static str,
    /// Headings of the columns of values.
    pub header: Vec<String>,
    /// Name and cells of each row. A cell may have several lines.
    pub rows: Vec<(String, Vec<String>)>,
    /// Number of adjacent columns that stay together: a value and its details.
    columns_per_group: usize,
}

/// A column that follows each column of values.
#[derive(Clone, Debug)]
pub(super) struct DetailColumn {
    /// Heading of the column.
    pub(super) heading: &'static str,
    /// Heading of a separate table, if there is no room for the column.
    pub(super) title: &'static str,
    /// Cells, by the same series and sizes as the values.
    pub(super) cells: ResultsTable,
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
        let options = rows.first().map(|row| row.case.case.message_options()).unwrap_or_default();
        Self { series, sizes: sizes.into_iter().collect(), options, cells }
    }

    /// Puts sizes across if they fit side by side or are not more than the series; otherwise down.
    pub fn layout(&self, columns: usize) -> Grid {
        self.arranged(&[], columns)
    }

    /// Arranges the values as [`Self::layout`] does, each followed by its details. `None` if `columns` have no room for
    /// a value with its details.
    pub(super) fn layout_with(&self, details: &[DetailColumn], columns: usize) -> Option<Grid> {
        let grid = self.arranged(details, columns);
        grid.fits_group(columns).then_some(grid)
    }

    /// Arranges the values as [`Self::layout`] does, each followed by its details, however wide.
    pub(super) fn arranged(&self, details: &[DetailColumn], columns: usize) -> Grid {
        let arrange = |place: fn(&Self) -> Grid| {
            let details = details.iter().map(|detail| (detail.heading, place(&detail.cells)));
            place(self).with_details(&details.collect::<Vec<_>>())
        };
        let across = arrange(Self::sizes_across);
        let fits = || across.column_ranges(columns, across.name_width(columns)).len() == 1;
        if self.sizes.len() <= self.series.len() || fits() {
            across
        } else {
            arrange(Self::sizes_down)
        }
    }

    /// Returns these results with the series and sizes of `other`, which has all of them; further cells are empty.
    pub(super) fn in_places_of(&self, other: &Self) -> Self {
        let place = |name: &String| other.series.iter().position(|known| known == name);
        let cell = |((series, bytes), text): (&(usize, u64), &String)| {
            Some(((place(&self.series[*series])?, *bytes), text.clone()))
        };
        let cells = self.cells.iter().filter_map(cell).collect();
        Self { series: other.series.clone(), cells, ..other.clone() }
    }

    /// Whether every cell is empty.
    pub(super) fn is_blank(&self) -> bool {
        self.cells.values().all(String::is_empty)
    }

    fn cell(&self, series: usize, bytes: u64) -> String {
        self.cells.get(&(series, bytes)).cloned().unwrap_or_default()
    }

    fn size_names(&self) -> impl Iterator<Item = String> {
        self.sizes.iter().map(|&bytes| self.options.size_text(bytes))
    }

    fn sizes_across(&self) -> Grid {
        let row = |(place, name): (usize, &String)| {
            (name.clone(), self.sizes.iter().map(|&bytes| self.cell(place, bytes)).collect())
        };
        let rows = self.series.iter().enumerate().map(row).collect();
        let header = self.size_names().collect();
        Grid { corner: "mechanism", header, rows, columns_per_group: 1 }
    }

    fn sizes_down(&self) -> Grid {
        let places = 0..self.series.len();
        let row = |&bytes: &u64| places.clone().map(|place| self.cell(place, bytes)).collect();
        let rows = self.size_names().zip(self.sizes.iter().map(row)).collect();
        Grid { corner: "buffer", header: self.series.clone(), rows, columns_per_group: 1 }
    }
}

impl Grid {
    /// Inserts a column of each of `details`, grids with the same rows and columns, after each column of values.
    fn with_details(mut self, details: &[(&'static str, Self)]) -> Self {
        let columns = 0..self.header.len();
        let headings = |column: usize| {
            let details = details.iter().map(|(heading, _)| (*heading).to_owned());
            std::iter::once(self.header[column].clone()).chain(details)
        };
        let header = columns.clone().flat_map(headings).collect();
        for (row, (_, cells)) in self.rows.iter_mut().enumerate() {
            let group = |column: usize| {
                let details = details.iter().map(move |(_, grid)| grid.rows[row].1[column].clone());
                std::iter::once(cells[column].clone()).chain(details)
            };
            *cells = columns.clone().flat_map(group).collect();
        }
        self.header = header;
        self.columns_per_group = 1 + details.len();
        self
    }

    /// Whether a line has room for the narrowest names, and the widest value with its details.
    fn fits_group(&self, columns: usize) -> bool {
        FIRST_COLUMN_PADDING + MIN_NAME_WIDTH + self.widest_group() <= columns
    }

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
        let room = columns.saturating_sub(FIRST_COLUMN_PADDING + self.widest_group());
        natural.min(room.max(MIN_NAME_WIDTH))
    }

    fn groups(&self) -> usize {
        self.header.len() / self.columns_per_group
    }

    /// Returns the columns of `groups`.
    fn columns_of(&self, groups: &Range<usize>) -> Range<usize> {
        groups.start * self.columns_per_group..groups.end * self.columns_per_group
    }

    /// Returns the width of a group, with its padding.
    fn group_width(&self, group: usize) -> usize {
        let columns = self.columns_of(&(group..group + 1));
        columns.map(|column| COLUMN_PADDING + self.column_width(column)).sum()
    }

    fn widest_group(&self) -> usize {
        (0..self.groups()).map(|group| self.group_width(group)).max().unwrap_or(0)
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

    /// Returns the columns of each table: as few tables as possible, with about the same number of groups in each.
    fn column_ranges(&self, columns: usize, name_width: usize) -> Vec<Range<usize>> {
        let room = columns.saturating_sub(FIRST_COLUMN_PADDING + name_width);
        let full = self.greedy_group_ranges(room);
        let (all, each) = (self.groups(), self.groups().div_ceil(full.len()));
        let starts = (0..all).step_by(each.max(1));
        let even: Vec<Range<usize>> = starts.map(|start| start..(start + each).min(all)).collect();
        let fits = |part: &Range<usize>| {
            part.clone().map(|group| self.group_width(group)).sum::<usize>() <= room
        };
        let parts = if even.iter().all(fits) { even } else { full };
        parts.iter().map(|groups| self.columns_of(groups)).collect()
    }

    /// Returns the groups of each table, with as many groups in each as fit.
    fn greedy_group_ranges(&self, room: usize) -> Vec<Range<usize>> {
        let (mut parts, mut start, mut used) = (Vec::new(), 0, 0);
        for group in 0..self.groups() {
            let width = self.group_width(group);
            if used + width > room && group > start {
                parts.push(start..group);
                (start, used) = (group, 0);
            }
            used += width;
        }
        parts.push(start..self.groups());
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
