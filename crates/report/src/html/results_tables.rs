//! Tables of all results, grouped as in `ipcperf show`.

use ipcperf_results::analysis::AnalyzedFile;
use maud::{Markup, html};

use super::lettered;
use crate::presentation::{
    KNEE_LEGEND, PACED_LEGEND, PEERS_LEGEND, TextTable, WAIT_LEGEND, knee_tables, paced_tables,
    peers_tables, wait_tables,
};
use crate::terminal::{
    CPU_TIME_LEGEND, Grid, HARDWARE_LIMIT_HEADING, PERCENTILES_LEGEND, PercentileTable,
    ResultsTable, percentile_tables, refusals, sections,
};
use crate::wording::ErrorBar;

/// Width, in characters, that decides whether sizes go across or down. Tables scroll on narrower screens.
const WIDTH: usize = 116;
/// Headings of the tables that are collapsed.
const GRANTED_SIZES_HEADING: &str = "Kernel buffer granted";
const PERCENTILES_HEADING: &str = "Percentiles of single round trips";

pub(super) fn section(files: &[AnalyzedFile]) -> Markup {
    html! {
        p {
            "Each cell is the median over the repetitions. The interquartile range (IQR) follows in parentheses, as a \
             percentage of the median; with --until-ci, half the width of the 95 % interval of the median follows \
             instead, after ±. A question mark means that every run of the case was disturbed. † means that round \
             trips fall into several groups (modes); Data quality lists them. " (CPU_TIME_LEGEND) "."
        }
        @for (file, letter) in lettered(files) {
            @if let Some(letter) = letter { h3 { (letter) } }
            (file_section(file))
        }
    }
}

fn file_section(file: &AnalyzedFile) -> Markup {
    let error_bar = match file.results.header.plan.until_ci {
        Some(_) => ErrorBar::ConfidenceInterval,
        None => ErrorBar::Iqr,
    };
    let refusals = refusals(&file.summaries);
    html! {
        @for section in sections(&file.summaries, error_bar) {
            (table(&section.heading.to_string(), &section.with_cpu_times(WIDTH)))
            (collapsed(HARDWARE_LIMIT_HEADING, section.hardware_limit_shares.as_ref()))
            (collapsed(GRANTED_SIZES_HEADING, section.granted_sizes.as_ref()))
        }
        (paced(&knee_tables(&file.summaries), KNEE_LEGEND))
        (paced(&wait_tables(&file.summaries), WAIT_LEGEND))
        (paced(&peers_tables(&file.summaries), PEERS_LEGEND))
        (paced(&paced_tables(&file.summaries), PACED_LEGEND))
        (percentiles(&percentile_tables(&file.summaries, &file.results.samples)))
        @if !refusals.is_empty() { ul { @for line in &refusals { li { (line) } } } }
    }
}

fn collapsed(heading: &str, figures: Option<&ResultsTable>) -> Markup {
    html! {
        @if let Some(figures) = figures {
            details { summary { (heading) } (table(&format!("{heading}:"), &figures.layout(WIDTH))) }
        }
    }
}

/// Shows tables of paced cases, recommended waits or knees, and their legend.
fn paced(tables: &[TextTable], legend: &str) -> Markup {
    html! {
        @for TextTable { heading, header, rows, notes } in tables {
            (figures_table(heading, header, rows))
            @for line in notes { p { (line) "." } }
        }
        @if !tables.is_empty() { p { (legend) "." } }
    }
}

/// Shows the percentiles of single round trips. Empty if no workload has round trips.
fn percentiles(tables: &[PercentileTable]) -> Markup {
    html! {
        @if !tables.is_empty() {
            details {
                summary { (PERCENTILES_HEADING) }
                p { (PERCENTILES_LEGEND) "." }
                @for PercentileTable { heading, rows } in tables {
                    (figures_table(heading, &PercentileTable::HEADER, rows))
                }
            }
        }
    }
}

/// Shows a table of figures whose first column has the names of the rows.
fn figures_table(heading: &str, header: &[&str], rows: &[impl AsRef<[String]>]) -> Markup {
    let rows = rows.iter().filter_map(|row| row.as_ref().split_first());
    html! {
        div.scroll { table {
            caption { (heading) }
            @if let Some((name, figures)) = header.split_first() {
                thead { tr { th { (name) } @for head in figures { th.figure { (head) } } } }
            }
            tbody { @for (name, figures) in rows {
                tr { th scope="row" { (name) } @for cell in figures { td.figure { (cell) } } }
            } }
        } }
    }
}

fn table(caption: &str, grid: &Grid) -> Markup {
    html! {
        div.scroll { table {
            caption { (caption) }
            thead { tr { th { (grid.corner) } @for head in &grid.header { th.figure { (head) } } } }
            tbody { @for (name, cells) in &grid.rows {
                tr { th scope="row" { (name) } @for cell in cells { td.figure { (cell) } } }
            } }
        } }
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;
    use ipcperf_results::analysis::Spread;
    use ipcperf_results::testing::{analyzed_file, sample};

    use super::*;

    /// Returns a file with one case of round trips, whose CPU time is known.
    fn file(workload: WorkloadKind) -> AnalyzedFile {
        let run = |block| sample("pipe", workload, 64, block, 5_000_000);
        let mut file = analyzed_file("x", (1..=7).map(run).collect(), Vec::new());
        let cpu_ns_per_message = Spread { median: 1_234.0, q1: None, q3: None, n: 7 };
        file.summaries[0].cpu_ns_per_message = Some(cpu_ns_per_message);
        file
    }

    #[test]
    fn results_have_their_cpu_time_percentiles_and_granted_sizes() {
        let page = section(&[file(WorkloadKind::RoundTrip)]).into_string();
        for part in [
            "<th class=\"figure\">CPU/trip</th>",
            "<td class=\"figure\">1.23 µs</td>",
            "<summary>Kernel buffer granted</summary>",
            "<td class=\"figure\">64 KiB</td>",
            "<summary>Percentiles of single round trips</summary>",
            "<th class=\"figure\">p99.9</th>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }

    #[test]
    fn a_stream_has_no_percentiles() {
        let page = section(&[file(WorkloadKind::Stream)]).into_string();
        assert!(page.contains("CPU/msg") && !page.contains("p99.9"), "{page}");
    }
}
