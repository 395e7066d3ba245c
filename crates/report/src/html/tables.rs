//! Tables of all results, grouped as in `ipcperf show`.

use ipcperf_results::analysis::Summarised;
use maud::{Markup, html};

use super::lettered;
use crate::terminal::{Figures, ROOFS, refusals, sections};
use crate::wording::Beside;

/// Width, in characters, that decides whether sizes go across or down. Tables scroll on narrower screens.
const WIDTH: usize = 116;

pub(super) fn section(files: &[Summarised]) -> Markup {
    html! {
        p {
            "Each figure is the median over the repetitions, and how far its middle half is spread as \
             a share of it (or how well the median is known, where that was asked for). A question \
             mark stands before what was never measured undisturbed; † says that single round trips \
             have several modes, which are listed further down."
        }
        @for (file, letter) in lettered(files) {
            @if let Some(letter) = letter { h3 { (letter) } }
            (of_file(file))
        }
    }
}

fn of_file(file: &Summarised) -> Markup {
    let beside = match file.results.header.plan.until_ci {
        Some(_) => Beside::Interval,
        None => Beside::Spread,
    };
    let refusals = refusals(&file.summaries);
    html! {
        @for section in sections(&file.summaries, beside) {
            (table(&section.heading.to_string(), &section.figures))
            @if let Some(roofs) = &section.roofs {
                details { summary { (ROOFS) } (table(&format!("{ROOFS}:"), roofs)) }
            }
        }
        @if !refusals.is_empty() { ul { @for line in &refusals { li { (line) } } } }
    }
}

fn table(caption: &str, figures: &Figures) -> Markup {
    let grid = figures.arranged(WIDTH);
    html! {
        div.scroll { table {
            caption { (caption) }
            thead { tr { th { (grid.corner) } @for head in &grid.head { th.figure { (head) } } } }
            tbody { @for (name, cells) in &grid.rows {
                tr { th scope="row" { (name) } @for cell in cells { td.figure { (cell) } } }
            } }
        } }
    }
}
