//! All figures in tables, as `ipcperf show` groups them.

use std::collections::{BTreeSet, HashMap};

use maud::{Markup, html};

use super::lettered;
use crate::output::{Beside, Heading, cell, headings, refusals};
use crate::plan::Bytes;
use crate::summary::{CaseSummary, Summarised};

/// More sizes than this go down the page, mechanisms across.
const MOST_ACROSS: usize = 8;

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
    let tables = headings(&file.summaries);
    html! {
        @for heading in &tables { (grid(heading, file, beside)) }
        @if let Some(refusals) = refusals(&file.summaries) {
            ul { @for line in refusals.lines() { li { (line) } } }
        }
    }
}

/// The cells of one heading: mechanisms by sizes.
fn grid(heading: &Heading, file: &Summarised, beside: Beside) -> Markup {
    let cases: Vec<&CaseSummary> =
        file.summaries.iter().filter(|case| heading.is_of(case)).collect();
    let sizes: BTreeSet<u64> = cases.iter().map(|case| case.case.buffer_bytes).collect();
    let mut series: Vec<String> = Vec::new();
    let mut cells: HashMap<(String, u64), &CaseSummary> = HashMap::new();
    for case in cases {
        let name = case.series();
        if !series.contains(&name) {
            series.push(name.clone());
        }
        cells.insert((name, case.case.buffer_bytes), case);
    }
    let at = |name: &String, bytes: u64| {
        let case = cells.get(&(name.clone(), bytes));
        html! { td.figure { (case.map_or_else(String::new, |case| in_words(case, beside))) } }
    };
    let across = sizes.len() <= MOST_ACROSS;
    html! {
        div.scroll { table {
            caption { (heading.about(beside)) }
            @if across {
                thead { tr { th { "mechanism" } @for &bytes in &sizes { th.figure { (Bytes(bytes)) } } } }
                tbody { @for name in &series {
                    tr { th scope="row" { (name) } @for &bytes in &sizes { (at(name, bytes)) } }
                } }
            } @else {
                thead { tr { th { "buffer" } @for name in &series { th.figure { (name) } } } }
                tbody { @for &bytes in &sizes {
                    tr { th scope="row" { (Bytes(bytes)) } @for name in &series { (at(name, bytes)) } }
                } }
            }
        } }
    }
}

/// The figure of a case, and below it how near it comes to what bounds it.
fn in_words(case: &CaseSummary, beside: Beside) -> String {
    let figure = cell(case, beside);
    case.roof.map_or(figure.clone(), |roof| {
        let share = crate::output::units::percent(roof.share);
        format!("{figure}\n{share} of {}", roof.bound.name())
    })
}
