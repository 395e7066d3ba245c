//! Data quality: disturbed, refused and failed runs, and those that were excluded.

use ipcperf_model::units;
use ipcperf_results::analysis::{AnalyzedFile, main_figure};
use ipcperf_results::{ExclusionReason, Sample};
use maud::{Markup, html};

use super::lettered;
use crate::terminal::{Note, closing_lines, exclusion_text, notes, unfinished_note};

pub(super) fn section(files: &[AnalyzedFile]) -> Markup {
    html! {
        @for (file, letter) in lettered(files) {
            @if let Some(letter) = letter { h3 { (letter) } }
            (file_section(file))
        }
    }
}

fn file_section(file: &AnalyzedFile) -> Markup {
    let results = &file.results;
    let plan = &results.header.plan;
    let seen = notes(&file.summaries, &results.samples, plan.until_ci);
    let notes: Vec<Note> =
        unfinished_note(results).map(Note::from).into_iter().chain(seen).collect();
    let closing = closing_lines(plan, results.failures.iter());
    html! {
        @if notes.is_empty() { p { "No irregularities." } }
        @for note in &notes { (paragraph(note)) }
        @if !closing.is_empty() { ul { @for line in &closing { li { (line) } } } }
        (excluded_runs(&results.samples))
    }
}

/// Shows a note: its sentence, and its cases below, if it lists any.
fn paragraph(Note { text, cases }: &Note) -> Markup {
    html! {
        @if cases.is_empty() { p { (text) } } @else {
            details { summary { (text) " (" (cases.len()) ")" } ul { @for case in cases { li { (case) } } } }
        }
    }
}

/// Lists every excluded run with the reason.
fn excluded_runs(samples: &[Sample]) -> Markup {
    let first = samples.iter().filter(|s| s.excluded == Some(ExclusionReason::First)).count();
    let is_disturbed = |s: &&Sample| s.excluded.is_some_and(ExclusionReason::is_disturbance);
    let disturbed: Vec<&Sample> = samples.iter().filter(is_disturbed).collect();
    html! {
        p {
            "The first run of each case is always excluded (" (first) " runs, which are the first block): it also \
                fills caches and memory, which later runs find ready."
        }
        @if !disturbed.is_empty() {
            details {
                summary { "Disturbed runs, which are excluded (" (disturbed.len()) ")" }
                div.scroll { table {
                    thead { tr {
                        th { "case" } th { "block" } th { "attempt" } th { "reason" } th.figure { "result" }
                        th.figure { "run delay" } th.figure { "steal time" }
                    } }
                    tbody { @for sample in disturbed { (run_row(sample)) } }
                } }
            }
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "times for people")]
fn run_row(sample: &Sample) -> Markup {
    let case = &sample.run.case;
    let figure = main_figure(sample).map(|value| {
        let is_rate = sample.bandwidth_bytes_per_s.is_some() && !case.is_harness_only();
        if is_rate { units::bandwidth(value) } else { units::time(value) }
    });
    let time = |ns: Option<u64>| ns.map(|ns| units::time(ns as f64));
    html! {
        tr {
            td { (case.case_id) } td { (sample.run.block) } td { (sample.run.attempt) }
            td { (exclusion_text(sample)) } td.figure { (figure.unwrap_or_default()) }
            td.figure { (time(sample.run_delay_ns).unwrap_or_default()) }
            td.figure { (time(sample.steal_ns).unwrap_or_default()) }
        }
    }
}
