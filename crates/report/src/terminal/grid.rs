//! Figures by mechanism and size before they are laid out, and as many tables as it takes to keep to
//! a width.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use comfy_table::{CellAlignment, ContentArrangement, Table};
use ipcperf_model::size::Bytes;
use ipcperf_results::analysis::CaseSummary;
use textwrap::core::display_width;
use textwrap::{Options, WordSplitter};

use crate::terminal::cells::{Row, bounded, new_table};

/// What the style of tables puts around the first column, and around each further one.
const FIRST_FRAME: usize = 2;
const FRAME: usize = 3;
/// A head wider than this takes several lines, where no figure below it is as wide.
const WIDE_HEAD: usize = 20;
/// Names are broken over lines down to this width, to make room for figures.
const NARROW_NAME: usize = 8;

/// The figures under one heading, by series and size.
#[derive(Clone, Debug)]
pub struct Figures {
    series: Vec<String>,
    sizes: Vec<u64>,
    /// By place in `series`, and size.
    cells: HashMap<(usize, u64), String>,
}

/// Figures with what stands down and what across.
#[derive(Clone, Debug)]
pub struct Grid {
    /// What the names of the rows are.
    pub corner: &'static str,
    pub head: Vec<String>,
    /// Each row's name and its cells, which may be of several lines.
    pub rows: Vec<(String, Vec<String>)>,
}

impl Figures {
    /// What `content` says of the case of each of `rows`.
    pub(super) fn of(rows: &[&Row], content: impl Fn(&CaseSummary) -> String) -> Self {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let (mut series, mut cells) = (Vec::new(), HashMap::new());
        for Row { case, series: name } in rows {
            let place = *places.entry(name).or_insert_with(|| {
                series.push(bounded(name.clone()));
                series.len() - 1
            });
            cells.entry((place, case.case.buffer_bytes)).or_insert_with(|| bounded(content(case)));
        }
        let sizes: BTreeSet<u64> = rows.iter().map(|row| row.case.case.buffer_bytes).collect();
        Self { series, sizes: sizes.into_iter().collect(), cells }
    }

    /// Sizes across where they fit side by side, or are fewer than the mechanisms; else down.
    pub fn arranged(&self, columns: usize) -> Grid {
        let across = self.across();
        let fits = || across.parts(columns, across.name_width(columns)).len() == 1;
        if self.sizes.len() <= self.series.len() || fits() { across } else { self.down() }
    }

    fn cell(&self, place: usize, bytes: u64) -> String {
        self.cells.get(&(place, bytes)).cloned().unwrap_or_default()
    }

    fn size_names(&self) -> impl Iterator<Item = String> {
        self.sizes.iter().map(|&bytes| Bytes(bytes).to_string())
    }

    fn across(&self) -> Grid {
        let row = |(place, name): (usize, &String)| {
            (name.clone(), self.sizes.iter().map(|&bytes| self.cell(place, bytes)).collect())
        };
        let rows = self.series.iter().enumerate().map(row).collect();
        Grid { corner: "mechanism", head: self.size_names().collect(), rows }
    }

    fn down(&self) -> Grid {
        let places = 0..self.series.len();
        let row = |&bytes: &u64| places.clone().map(|place| self.cell(place, bytes)).collect();
        let rows = self.size_names().zip(self.sizes.iter().map(row)).collect();
        Grid { corner: "buffer", head: self.series.clone(), rows }
    }
}

impl Grid {
    /// Tables of at most `columns` characters in width, each with all rows. No line of a cell is
    /// broken, unless it alone is wider than that.
    pub fn tables(&self, columns: usize) -> Vec<Table> {
        let name_width = self.name_width(columns);
        let parts = self.parts(columns, name_width).into_iter();
        parts.map(|part| self.table(part, name_width)).collect()
    }

    /// How wide the names of the rows may be: as wide as they are, where the widest figure fits
    /// beside them.
    fn name_width(&self, columns: usize) -> usize {
        let names = self.rows.iter().map(|(name, _)| display_width(name));
        let natural = names.chain([display_width(self.corner)]).max().unwrap_or(0);
        let widest = (0..self.head.len()).map(|column| self.width(column)).max().unwrap_or(0);
        let room = columns.saturating_sub(FIRST_FRAME + FRAME + widest);
        natural.min(room.max(NARROW_NAME))
    }

    /// How wide a column of figures is.
    fn width(&self, column: usize) -> usize {
        let head = display_width(&self.head[column]);
        let figures = self.figure_width(column);
        figures.max(head.min(WIDE_HEAD))
    }

    fn figure_width(&self, column: usize) -> usize {
        let lines = self.rows.iter().flat_map(|(_, cells)| cells[column].lines());
        lines.map(display_width).max().unwrap_or(0)
    }

    /// The columns of each table: as few tables as hold them, and about as many columns in each.
    fn parts(&self, columns: usize, name_width: usize) -> Vec<Range<usize>> {
        let room = columns.saturating_sub(FIRST_FRAME + name_width);
        let full = self.full_parts(room);
        let (all, each) = (self.head.len(), self.head.len().div_ceil(full.len()));
        let starts = (0..all).step_by(each.max(1));
        let even: Vec<Range<usize>> = starts.map(|start| start..(start + each).min(all)).collect();
        let fits = |part: &Range<usize>| {
            part.clone().map(|c| FRAME + self.width(c)).sum::<usize>() <= room
        };
        if even.iter().all(fits) { even } else { full }
    }

    /// The same with as many columns in each as there is room for.
    fn full_parts(&self, room: usize) -> Vec<Range<usize>> {
        let (mut parts, mut start, mut used) = (Vec::new(), 0, 0);
        for column in 0..self.head.len() {
            let width = FRAME + self.width(column);
            if used + width > room && column > start {
                parts.push(start..column);
                (start, used) = (column, 0);
            }
            used += width;
        }
        parts.push(start..self.head.len());
        parts
    }

    fn table(&self, part: Range<usize>, name_width: usize) -> Table {
        let mut table = new_table();
        // Everything is as wide as it shall be by now.
        table.set_content_arrangement(ContentArrangement::Disabled);
        let figures = part.len();
        let head = part.clone().map(|column| broken(&self.head[column], self.width(column)));
        table.set_header(std::iter::once(self.corner.to_owned()).chain(head));
        for (name, cells) in &self.rows {
            let cells = cells[part.clone()].iter().cloned();
            table.add_row(std::iter::once(broken(name, name_width)).chain(cells));
        }
        for column in table.column_iter_mut().skip(1).take(figures) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table
    }
}

/// A name over as many lines as `width` asks for: at spaces and hyphens where it has any.
fn broken(name: &str, width: usize) -> String {
    let options = Options::new(width).word_splitter(WordSplitter::HyphenSplitter);
    textwrap::wrap(name, options).join("\n")
}
