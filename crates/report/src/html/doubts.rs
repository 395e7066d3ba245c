//! Data quality: disturbed, refused and failed runs, and those that were excluded.

use ipcperf_model::units;
use ipcperf_results::analysis::{Summarised, main_figure};
use ipcperf_results::{Sample, SetAside};
use maud::{Markup, html};

use super::lettered;
use crate::terminal::{Note, closing_lines, notes, set_aside_in_words, unfinished};

pub(super) fn section(files: &[Summarised]) -> Markup {
    html! {
        @for (file, letter) in lettered(files) {
            @if let Some(letter) = letter { h3 { (letter) } }
            (of_file(file))
        }
    }
}

fn of_file(file: &Summarised) -> Markup {
    let results = &file.results;
    let plan = &results.header.plan;
    let seen = notes(&file.summaries, &results.samples, plan.until_ci);
    let notes: Vec<Note> = unfinished(results).map(Note::from).into_iter().chain(seen).collect();
    let closing = closing_lines(plan, results.failures.iter());
    html! {
        @if notes.is_empty() { p { "Nothing out of the ordinary was seen." } }
        @for note in &notes { (paragraph(note)) }
        @if !closing.is_empty() { ul { @for line in &closing { li { (line) } } } }
        (set_aside(&results.samples))
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
fn set_aside(samples: &[Sample]) -> Markup {
    let first = samples.iter().filter(|s| s.set_aside == Some(SetAside::First)).count();
    let is_held_up = |s: &&Sample| s.set_aside.is_some_and(SetAside::is_disturbance);
    let held_up: Vec<&Sample> = samples.iter().filter(is_held_up).collect();
    html! {
        p {
            "The first block is always set aside (" (first) " runs), as what comes first pays for \
             what others find ready."
        }
        @if !held_up.is_empty() {
            details {
                summary { "The runs that were set aside because the machine held them up (" (held_up.len()) ")" }
                div.scroll { table {
                    thead { tr {
                        th { "case" } th { "block" } th { "attempt" } th { "why" } th.figure { "figure" }
                        th.figure { "waited to run" } th.figure { "stolen" }
                    } }
                    tbody { @for sample in held_up { (run(sample)) } }
                } }
            }
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "times for people")]
fn run(sample: &Sample) -> Markup {
    let case = &sample.run.case;
    let figure = main_figure(sample).map(|value| {
        let is_rate = sample.bandwidth_bytes_per_s.is_some() && !case.moves_nothing();
        if is_rate { units::bandwidth(value) } else { units::time(value) }
    });
    let time = |ns: Option<u64>| ns.map(|ns| units::time(ns as f64));
    html! {
        tr {
            td { (case.case_id) } td { (sample.run.block) } td { (sample.run.attempt) }
            td { (set_aside_in_words(sample)) } td.figure { (figure.unwrap_or_default()) }
            td.figure { (time(sample.run_delay_ns).unwrap_or_default()) }
            td.figure { (time(sample.steal_ns).unwrap_or_default()) }
        }
    }
}
