//! Observations of instruments and the cost of instrumentation.

use std::collections::BTreeSet;

use ipcperf_model::size::Bytes;
use ipcperf_results::analysis::{ObservedCase, ProfileSampling, SuggestedRun};
use ipcperf_results::{ProbeEffect, UnavailableInstrumentRecord};

use super::cells::new_table;
use super::instrument_views::view_text;

/// Maximum number of tables and figures of instruments shown for a file with several cells. More are left to a report.
/// Those of the first cell, which is the only one of `ipcperf trace`, are always shown.
const MAX_VIEWS: usize = 12;

/// Column of the table of probe effects.
struct EffectColumn {
    heading: &'static str,
    /// Returns the value of a case.
    cell: fn(&ProbeEffect) -> String,
}

const EFFECT_COLUMNS: &[EffectColumn] = &[
    EffectColumn { heading: "case", cell: |effect| effect.cell.clone() },
    EffectColumn { heading: "instruments", cell: |effect| effect.instruments.join(", ") },
    EffectColumn {
        heading: "CPU distance",
        cell: |effect| effect.cpu_pair_class.clone().unwrap_or_default(),
    },
    EffectColumn { heading: "slowdown", cell: |effect| format!("{:.3}", effect.slowdown) },
    EffectColumn { heading: "95 % interval", cell: interval_text },
    EffectColumn { heading: "Cliff's delta", cell: |effect| format!("{:.2}", effect.cliffs_delta) },
    EffectColumn { heading: "pairs", cell: |effect| effect.pairs.to_string() },
];

/// Formats the effect of instrumentation on cases as a table, without columns that are empty, so that names of cases
/// need not be broken. Empty if there were no instrumented runs.
pub fn probe_effect_table(effects: &[ProbeEffect], columns: usize) -> String {
    if effects.is_empty() {
        return String::new();
    }
    let is_filled =
        |column: &&EffectColumn| effects.iter().any(|effect| !(column.cell)(effect).is_empty());
    let shown: Vec<&EffectColumn> = EFFECT_COLUMNS.iter().filter(is_filled).collect();
    let mut table = new_table(columns);
    table.set_header(shown.iter().map(|column| column.heading));
    for effect in effects {
        table.add_row(shown.iter().map(|column| (column.cell)(effect)));
    }
    format!(
        "Probe effect: time per message, divided by that of the run without instruments in the same block\n{table}"
    )
}

/// Formats the interval of the slowdown.
pub fn interval_text(effect: &ProbeEffect) -> String {
    let words = |[low, high]: [f64; 2]| format!("{low:.3} to {high:.3}");
    effect.slowdown_interval.map_or_else(|| "too few pairs".to_owned(), words)
}

/// Formats the observations: all of the first cell, and those of other cells as long as there are not too many. For the
/// rest it refers to the report.
pub fn observed_text(observations: &[ObservedCase], columns: usize) -> String {
    let observed: Vec<&ObservedCase> =
        observations.iter().filter(|one| !one.views.is_empty()).collect();
    let mut views = 0;
    let (shown, hidden): (Vec<&ObservedCase>, Vec<&ObservedCase>) =
        observed.iter().copied().partition(|one| {
            views += one.views.len();
            one.cell == observed[0].cell || views <= MAX_VIEWS
        });
    let shown = shown.into_iter().map(|one| observation_text(one, columns));
    shown.chain(hidden_text(&hidden)).collect::<Vec<_>>().join("\n\n")
}

/// Counts the `hidden` observations; `None` if there are none.
fn hidden_text(hidden: &[&ObservedCase]) -> Option<String> {
    let views: usize = hidden.iter().map(|one| one.views.len()).sum();
    let cells: BTreeSet<&str> = hidden.iter().map(|one| one.cell.as_str()).collect();
    let cells = match cells.len() {
        1 => "1 more case".to_owned(),
        more => format!("{more} more cases"),
    };
    (!hidden.is_empty()).then(|| {
        format!(
            "Instruments: {views} tables and figures of {cells}; to see them, write a report: ipcperf report FILE -o \
             FILE.html"
        )
    })
}

fn observation_text(observation: &ObservedCase, columns: usize) -> String {
    let pictures = observation.views.iter().map(|picture| view_text(picture, columns));
    let note = observation.sampling.as_ref().and_then(sampling_note);
    let heading = format!(
        "{} of {} ({})",
        observation.instrument,
        observation.case_id,
        observed_runs_text(observation)
    );
    std::iter::once(heading).chain(pictures).chain(note).collect::<Vec<_>>().join("\n\n")
}

/// Names the run that was observed, or counts the runs whose observations are pooled.
pub fn observed_runs_text(observation: &ObservedCase) -> String {
    match observation.runs {
        0 | 1 => format!("run {}", observation.run_id),
        runs => format!("{runs} runs pooled"),
    }
}

/// Warns that shares are uncertain if there are few samples, and suggests a run that gives enough.
pub(super) fn sampling_note(sampling: &ProfileSampling) -> Option<String> {
    if !sampling.is_sparse() {
        return None;
    }
    let samples = if sampling.samples == 1 { "sample" } else { "samples" };
    let runs = if sampling.runs == 1 { "run" } else { "runs" };
    let remedy =
        sampling.suggestion.map_or_else(String::new, |SuggestedRun { total_bytes, timeout_s }| {
            let total = Bytes(total_bytes).to_string().replace(' ', "");
            let timeout = timeout_s.map_or_else(String::new, |s| format!(" --timeout {s}"));
            format!("; --total {total}{timeout} gives about {} or more", ProfileSampling::ENOUGH)
        });
    Some(format!(
        "Only {} {samples} in {} {runs}, so shares are uncertain{remedy}",
        sampling.samples, sampling.runs
    ))
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

#[cfg(test)]
mod tests {
    use ipcperf_model::instrument_view::{InstrumentView, Table, Value};

    use super::*;

    fn observed(cell: &str, instrument: &str, views: usize) -> ObservedCase {
        let title = format!("{instrument} of {cell}");
        let (headings, rows) = (vec!["role".to_owned()], vec![vec![Value::Count(1)]]);
        let view = InstrumentView::Table(Table { title, headings, rows });
        ObservedCase {
            case_id: format!("{cell}/instrument={instrument}"),
            cell: cell.to_owned(),
            run_id: "1.0.1".to_owned(),
            runs: 1,
            instrument: instrument.to_owned(),
            views: vec![view; views],
            sampling: None,
            flame: None,
        }
    }

    fn effect(cpu_pair_class: Option<&str>) -> ProbeEffect {
        ProbeEffect {
            case_id: "pipe/stream/2proc/same/4096/instrument=syscalls".to_owned(),
            twin_case_id: "pipe/stream/2proc/same/4096/twin=syscalls".to_owned(),
            cell: "pipe/stream/2proc/same/4096".to_owned(),
            instruments: vec!["syscalls".to_owned()],
            cpu_pair_class: cpu_pair_class.map(str::to_owned),
            slowdown: 13.421,
            slowdown_interval: Some([13.105, 13.912]),
            cliffs_delta: 1.0,
            pairs: 10,
        }
    }

    #[test]
    fn names_of_cases_are_whole_and_an_empty_column_is_left_out() {
        let text = probe_effect_table(&[effect(None)], 100);
        assert!(text.contains(" pipe/stream/2proc/same/4096 "), "{text}");
        assert!(!text.contains("CPU distance"), "{text}");
        assert_eq!(text.lines().count(), 4, "a title, headings, a rule and a row:\n{text}");
        assert!(probe_effect_table(&[effect(Some("284ns"))], 120).contains("CPU distance"));
        assert_eq!(probe_effect_table(&[], 100), "");
    }

    #[test]
    fn all_views_of_a_single_cell_are_shown() {
        let text =
            observed_text(&[observed("pipe", "sched", 9), observed("pipe", "profile", 9)], 80);
        assert_eq!(text.matches("\nsched of pipe\n").count(), 9, "{text}");
        assert_eq!(text.matches("profile of pipe\n").count(), 9, "{text}");
        assert!(!text.contains("write a report"), "{text}");
        assert_eq!(observed_text(&[], 80), "");
    }

    #[test]
    fn views_of_further_cells_are_shown_up_to_a_maximum() {
        let all = [
            observed("pipe", "sched", MAX_VIEWS - 1),
            observed("tcp", "sched", 1),
            observed("udp", "sched", 2),
            observed("fifo", "sched", 1),
        ];
        let text = observed_text(&all, 80);
        assert!(text.contains("sched of tcp") && !text.contains("sched of udp"), "{text}");
        let rest = text.lines().last().unwrap_or_default();
        assert!(rest.starts_with("Instruments: 3 tables and figures of 2 more cases"), "{text}");
    }

    #[test]
    fn pooled_runs_are_counted_and_few_samples_are_pointed_out() {
        let suggestion = SuggestedRun { total_bytes: 1 << 29, timeout_s: Some(32) };
        let sampling = ProfileSampling { samples: 150, runs: 10, suggestion: Some(suggestion) };
        let one = ObservedCase { runs: 10, sampling: Some(sampling), ..observed("pipe", "a", 1) };
        let text = observed_text(&[one], 100);
        assert!(text.starts_with("a of pipe/instrument=a (10 runs pooled)\n"), "{text}");
        let note = "Only 150 samples in 10 runs, so shares are uncertain; --total 512MiB --timeout \
                    32 gives about 500 or more";
        assert_eq!(text.lines().last(), Some(note));
        let in_time = SuggestedRun { timeout_s: None, ..suggestion };
        let note = sampling_note(&ProfileSampling { suggestion: Some(in_time), ..sampling });
        assert!(note.is_some_and(|note| !note.contains("--timeout")));
        assert_eq!(sampling_note(&ProfileSampling { samples: 500, ..sampling }), None);
    }
}
