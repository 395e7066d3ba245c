//! Observations of instruments and the cost of instrumentation.

use ipcperf_results::analysis::Observed;
use ipcperf_results::{ProbeEffect, UnwatchedRecord};

use super::cells::new_table;
use super::pictures::picture_text;

/// Maximum number of instrument figures shown for a file. More are left to a report.
const MOST_SHOWN: usize = 12;

/// Formats the effect of instrumentation on cases as a table. Empty if there were no instrumented runs.
pub fn probe_table(effects: &[ProbeEffect], columns: usize) -> String {
    if effects.is_empty() {
        return String::new();
    }
    let mut table = new_table(columns);
    table.set_header([
        "case",
        "watched by",
        "CPUs",
        "slower by a factor of",
        "95 % interval",
        "Cliff's delta",
        "pairs",
    ]);
    for effect in effects {
        table.add_row([
            effect.cell.clone(),
            effect.instruments.join(", "),
            effect.cpu_pair_class.clone().unwrap_or_default(),
            format!("{:.3}", effect.slowdown),
            interval_words(effect),
            format!("{:.2}", effect.cliffs_delta),
            effect.pairs.to_string(),
        ]);
    }
    format!(
        "What being watched cost: time of a message, over that of the undisturbed twin in the same block\n{table}"
    )
}

/// Formats the interval of the slowdown.
pub fn interval_words(effect: &ProbeEffect) -> String {
    let words = |[low, high]: [f64; 2]| format!("{low:.3} to {high:.3}");
    effect.slowdown_interval.map_or_else(|| "too few pairs".to_owned(), words)
}

/// Formats the observations. If there are too many, refers to the report instead.
pub fn observed_text(seen: &[Observed], columns: usize) -> String {
    let pictures: usize = seen.iter().map(|one| one.pictures.len()).sum();
    if pictures > MOST_SHOWN {
        return format!(
            "What instruments saw: {pictures} pictures; see them in a report (ipcperf report FILE -o FILE.html)"
        );
    }
    let shown = seen.iter().filter(|one| !one.pictures.is_empty());
    shown.map(|one| one_text(one, columns)).collect::<Vec<_>>().join("\n\n")
}

fn one_text(seen: &Observed, columns: usize) -> String {
    let pictures = seen.pictures.iter().map(|picture| picture_text(picture, columns));
    let heading = format!("{} of {} (run {})", seen.instrument, seen.case_id, seen.run_id);
    std::iter::once(heading).chain(pictures).collect::<Vec<_>>().join("\n\n")
}

/// Describes an unavailable instrument or event on one line.
pub(super) fn unwatched_line(one: &UnwatchedRecord) -> String {
    let (instrument, reason, remedy) = (&one.instrument, &one.reason, &one.remedy);
    let what = if one.watches { "watches without" } else { "cannot watch" };
    let left_out = cells_left_out(one.cells_left_out, &one.matrices);
    format!("{what}: {instrument}: {reason} ({remedy}){left_out}")
}

/// Describes how many cells of `matrices` are not run because their instrument is unavailable. Empty if all are run.
pub(super) fn cells_left_out(count: usize, matrices: &[String]) -> String {
    let cells = if count == 1 { "cell is" } else { "cells are" };
    match count {
        0 => String::new(),
        _ => format!("; {count} {cells} not run (matrix {})", matrices.join(", ")),
    }
}
