//! Tables of results: one for each workload, mode, placement and kernel buffer, or several if it exceeds the width.

use std::collections::HashSet;

use comfy_table::Table;
use ipcperf_model::parallel::map;
use ipcperf_model::size::Bytes;
use ipcperf_results::CaseIdentity;
use ipcperf_results::analysis::CaseSummary;
use textwrap::core::display_width;

use super::cell_text::{cell_text, cpu_time_text, hardware_limit_share, legend};
use super::cells::CaseRow;
use super::granted_sizes::with_granted_sizes;
use super::grid::{DetailColumn, Grid, ResultsTable};
use super::paced::paced_texts;
use super::refusals::refusals;
use super::width::wrap;
use crate::wording::{ErrorBar, Heading, TableHeading, headings};

/// Legend of the columns of CPU time.
pub const CPU_TIME_LEGEND: &str =
    "CPU/msg, CPU/trip: CPU time of a message or a round trip, all roles together (median)";

/// The results under one heading.
#[derive(Clone, Debug)]
pub struct Section {
    pub heading: TableHeading,
    pub results: ResultsTable,
    /// Shares of the hardware limits. `None` if no limit is known.
    pub hardware_limit_shares: Option<ResultsTable>,
    /// CPU time of a message or round trip. `None` if it is unknown.
    cpu_times: Option<DetailColumn>,
    /// Sizes of the kernel buffers. `None` if there are none.
    pub granted_sizes: Option<ResultsTable>,
    /// Legend of the marks in the cells, one line each.
    legend: Vec<String>,
}

/// Heading of the second grid of a section.
pub const HARDWARE_LIMIT_HEADING: &str = "Share of the hardware limit";

/// Whether tables have a column with the share of the hardware limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitShares {
    /// They have.
    Shown,
    /// They have not.
    Hidden,
}

/// Choices for the tables of a file in the terminal.
#[derive(Clone, Copy, Debug)]
pub struct TableView {
    /// Number next to each median.
    pub error_bar: ErrorBar,
    /// Whether the share of the hardware limit has a column.
    pub limit_shares: LimitShares,
    /// Returns the size of the kernel's buffer that a case requests, bytes, if it requests one: rows whose request the
    /// kernel rounded name both sizes.
    pub requested_buffer_bytes: fn(&CaseIdentity) -> Option<u64>,
    /// Maximum width, characters.
    pub columns: usize,
}

/// Formats all tables of `summaries`, with the refused cases below.
pub fn tables(summaries: &[CaseSummary], view: &TableView) -> String {
    let sections = sections_of(summaries, view.error_bar, view.requested_buffer_bytes);
    let mut parts: Vec<String> = map(sections.iter(), |section| section.text(view));
    parts.extend(paced_texts(summaries, view.columns));
    if sections.iter().any(|section| section.cpu_times.is_some()) {
        parts.push(wrap(CPU_TIME_LEGEND, view.columns));
    }
    let refusals = refusals(summaries);
    if !refusals.is_empty() {
        parts.push(refusals.join("\n"));
    }
    parts.join("\n\n")
}

/// Groups the results of `summaries` by heading.
pub fn sections(summaries: &[CaseSummary], error_bar: ErrorBar) -> Vec<Section> {
    sections_of(summaries, error_bar, |_| None)
}

/// Groups the results of `summaries` by heading. Rows whose request, `requested_buffer_bytes`, the kernel rounded name
/// both sizes.
fn sections_of(
    summaries: &[CaseSummary],
    error_bar: ErrorBar,
    requested_buffer_bytes: fn(&CaseIdentity) -> Option<u64>,
) -> Vec<Section> {
    let rows: Vec<CaseRow> = summaries.iter().map(CaseRow::new).collect();
    let measured = measured_series(&rows);
    let headings = headings(summaries);
    let unpaced = headings.iter().filter(|heading| !heading.is_paced());
    map(unpaced, |heading| {
        let rows = rows_under(heading, &headings, &rows, &measured);
        let rows = with_granted_sizes(&rows, requested_buffer_bytes);
        section(heading, &rows.iter().collect::<Vec<_>>(), error_bar)
    })
}

/// Returns the series of which at least one case was not refused.
fn measured_series<'a>(rows: impl IntoIterator<Item = &'a CaseRow<'a>>) -> HashSet<&'a str> {
    let measured = rows.into_iter().filter(|row| row.case.refused.is_none());
    measured.map(|row| row.series.as_str()).collect()
}

/// Returns the rows under `heading`, one of `headings`. A refused cell is shown with the other cells of its series. If
/// no table has any (`measured` lists the series that have some), it is shown under every heading. A case without a CPU
/// distance class, because every run was disturbed or failed, is shown once, under the first heading that fits it.
fn rows_under<'a, 'b>(
    heading: &Heading,
    headings: &[Heading],
    rows: &'a [CaseRow<'b>],
    measured: &HashSet<&str>,
) -> Vec<&'a CaseRow<'b>> {
    let is_first =
        |row: &CaseRow| headings.iter().find(|one| one.covers(row.case)) == Some(heading);
    let belongs = |row: &&CaseRow| {
        let has_place = row.case.cpu_pair_class.is_some() || row.case.refused.is_some();
        heading.covers(row.case) && (has_place || is_first(row))
    };
    let mut rows: Vec<&CaseRow> = rows.iter().filter(belongs).collect();
    let here = measured_series(rows.iter().copied());
    rows.retain(|row| {
        let series = row.series.as_str();
        row.case.refused.is_none() || here.contains(series) || !measured.contains(series)
    });
    rows
}

/// Returns the results of `rows`, which belong under `heading`.
fn section(heading: &Heading, rows: &[&CaseRow<'_>], error_bar: ErrorBar) -> Section {
    let limited: Vec<&CaseRow> =
        rows.iter().copied().filter(|row| row.case.hardware_limit.is_some()).collect();
    let cpu_times = ResultsTable::from_rows(rows, cpu_time_text);
    let cpu_times = (!cpu_times.is_blank()).then(|| DetailColumn {
        heading: if heading.workload().is_answered() { "CPU/trip" } else { "CPU/msg" },
        title: "CPU time",
        cells: cpu_times,
    });
    let granted_sizes = ResultsTable::from_rows(rows, granted_size);
    let cases: Vec<&CaseSummary> = rows.iter().map(|row| row.case).collect();
    Section {
        heading: heading.of_table(&repetition_range(rows), error_bar),
        results: ResultsTable::from_rows(rows, |case| cell_text(case, error_bar)),
        hardware_limit_shares: (!limited.is_empty())
            .then(|| ResultsTable::from_rows(&limited, hardware_limit_share)),
        cpu_times,
        granted_sizes: (!granted_sizes.is_blank()).then_some(granted_sizes),
        legend: legend(&cases),
    }
}

/// Formats the size of the kernel buffer of a case. Empty if it has none.
fn granted_size(case: &CaseSummary) -> String {
    let granted = case.kernel_buffer_granted_bytes;
    granted.map_or_else(String::new, |bytes| Bytes(bytes).to_string())
}

impl Section {
    /// Lays out the results, each with its CPU time, for `columns` characters.
    pub fn with_cpu_times(&self, columns: usize) -> Grid {
        self.results.arranged(self.cpu_times.as_slice(), columns)
    }

    fn text(&self, view: &TableView) -> String {
        let heading = self.heading.to_string();
        let fits = display_width(&heading) <= view.columns;
        let mut parts = vec![if fits { heading } else { self.heading.on_two_lines() }];
        parts.extend(self.grids(view));
        parts.extend(self.legend.iter().map(|line| wrap(line, view.columns)));
        parts.join("\n")
    }

    /// Formats the results with their details, each in a column, or in a separate table if it does not fit.
    fn grids(&self, view: &TableView) -> Vec<String> {
        let text = |grid: &Grid| {
            let tables = grid.tables(view.columns);
            tables.iter().map(Table::to_string).collect::<Vec<_>>()
        };
        let details = self.details(view.limit_shares);
        if let Some(grid) = self.results.layout_with(&details, view.columns) {
            return text(&grid);
        }
        let mut parts = text(&self.results.layout(view.columns));
        for detail in &details {
            parts.push(format!("{}:", detail.title));
            parts.extend(text(&detail.cells.layout(view.columns)));
        }
        parts
    }

    fn details(&self, limit_shares: LimitShares) -> Vec<DetailColumn> {
        let shares = match limit_shares {
            LimitShares::Shown => self.hardware_limit_shares.as_ref(),
            LimitShares::Hidden => None,
        };
        let shares = shares.map(|shares| DetailColumn {
            heading: "of limit",
            title: HARDWARE_LIMIT_HEADING,
            cells: shares.in_places_of(&self.results),
        });
        self.cpu_times.iter().cloned().chain(shares).collect()
    }
}

/// Returns the range of the number of repetitions behind the medians of `rows`; 0 for a case without a result.
fn repetition_range(rows: &[&CaseRow]) -> String {
    let measured = || rows.iter().filter(|row| row.case.refused.is_none());
    let counts = || measured().map(|row| row.case.main().map_or(0, |figure| figure.spread().n));
    match (counts().min(), counts().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (_, most) => most.unwrap_or(0).to_string(),
    }
}

#[cfg(test)]
mod tests;
