//! Tables of all results, grouped as in `ipcperf show`.

use ipcperf_results::analysis::AnalyzedFile;
use maud::{Markup, html};

use super::lettered;
use crate::terminal::{HARDWARE_LIMIT_HEADING, ResultsTable, refusals, sections};
use crate::wording::ErrorBar;

/// Width, in characters, that decides whether sizes go across or down. Tables scroll on narrower screens.
const WIDTH: usize = 116;

pub(super) fn section(files: &[AnalyzedFile]) -> Markup {
    html! {
        p {
            "Each cell is the median over the repetitions. The interquartile range (IQR) follows in parentheses, as a \
             percentage of the median; with --until-ci, half the width of the 95 % interval of the median follows \
             instead, after ±. A question mark means that every run of the case was disturbed. † means that round \
             trips fall into several groups (modes); Data quality lists them."
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
            (table(&section.heading.to_string(), &section.results))
            @if let Some(roofs) = &section.hardware_limit_shares {
                details { summary { (HARDWARE_LIMIT_HEADING) } (table(&format!("{HARDWARE_LIMIT_HEADING}:"), roofs)) }
            }
        }
        @if !refusals.is_empty() { ul { @for line in &refusals { li { (line) } } } }
    }
}

fn table(caption: &str, figures: &ResultsTable) -> Markup {
    let grid = figures.layout(WIDTH);
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
