//! Observations of instruments and the cost of instrumentation.

use ipcperf_results::analysis::ObservedCase;
use ipcperf_results::{ProbeEffect, UnavailableInstrumentRecord};

use super::cells::new_table;
use super::instrument_views::view_text;

/// Maximum number of instrument figures shown for a file. More are left to a report.
const MAX_VIEWS: usize = 12;

/// Formats the effect of instrumentation on cases as a table. Empty if there were no instrumented runs.
pub fn probe_effect_table(effects: &[ProbeEffect], columns: usize) -> String {
    if effects.is_empty() {
        return String::new();
    }
    let mut table = new_table(columns);
    table.set_header([
        "case",
        "instruments",
        "CPU distance",
        "slowdown (factor)",
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
            interval_text(effect),
            format!("{:.2}", effect.cliffs_delta),
            effect.pairs.to_string(),
        ]);
    }
    format!(
        "Probe effect: time per message, relative to the uninstrumented twin in the same block\n{table}"
    )
}

/// Formats the interval of the slowdown.
pub fn interval_text(effect: &ProbeEffect) -> String {
    let words = |[low, high]: [f64; 2]| format!("{low:.3} to {high:.3}");
    effect.slowdown_interval.map_or_else(|| "too few pairs".to_owned(), words)
}

/// Formats the observations. If there are too many, refers to the report instead.
pub fn observed_text(observations: &[ObservedCase], columns: usize) -> String {
    let pictures: usize = observations.iter().map(|one| one.views.len()).sum();
    if pictures > MAX_VIEWS {
        return format!(
            "Instruments: {pictures} tables and figures; to see them, write a report: ipcperf report FILE -o \
             FILE.html"
        );
    }
    let shown = observations.iter().filter(|one| !one.views.is_empty());
    shown.map(|one| observation_text(one, columns)).collect::<Vec<_>>().join("\n\n")
}

fn observation_text(observation: &ObservedCase, columns: usize) -> String {
    let pictures = observation.views.iter().map(|picture| view_text(picture, columns));
    let heading = format!(
        "{} of {} (run {})",
        observation.instrument, observation.case_id, observation.run_id
    );
    std::iter::once(heading).chain(pictures).collect::<Vec<_>>().join("\n\n")
}

/// Describes an unavailable instrument or event on one line.
pub(super) fn unavailable_line(one: &UnavailableInstrumentRecord) -> String {
    let (instrument, reason, remedy) = (&one.instrument, &one.reason, &one.remedy);
    let what = if one.partly_available {
        "partly unavailable instrument"
    } else {
        "unavailable instrument"
    };
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
