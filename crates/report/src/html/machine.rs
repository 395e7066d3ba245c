//! The machine: warnings with remedies, hardware limits, and all known properties.

use ipcperf_plan::machine::warnings;
use ipcperf_results::analysis::Summarised;
use maud::{Markup, html};

use super::lettered;
use crate::terminal::{facts, limit_rows};

pub(super) fn section(files: &[Summarised]) -> Markup {
    html! {
        @for (file, letter) in lettered(files) {
            @if let Some(letter) = letter { h3 { (letter) } }
            (of_file(file))
        }
    }
}

fn of_file(file: &Summarised) -> Markup {
    let header = &file.results.header;
    let warnings = warnings(&header.environment);
    let sections = header.environment.sections();
    html! {
        @if warnings.is_empty() { p { "Nothing is known of it that bears on measurements." } }
        ul { @for warning in &warnings {
            li { b { (warning.severity()) } ": " (warning) ". " span.quiet { "Remedy: " (warning.remedy()) } }
        } }
        @if let Some(limits) = &header.limits {
            (rows("What this machine cannot beat", &limit_rows(limits)))
            @if !limits.missing.is_empty() {
                ul { @for reason in &limits.missing { li { "Not measured: " (reason) } } }
            }
        }
        details {
            summary { "All that is known of it" }
            @for section in &sections { (rows(section.title, &facts(section))) }
        }
    }
}

fn rows(title: &str, rows: &[(String, String)]) -> Markup {
    html! {
        @if !rows.is_empty() {
            table.prose {
                caption { (title) }
                tbody { @for (name, value) in rows { tr { th scope="row" { (name) } td { (value) } } } }
            }
        }
    }
}
