//! The machine: warnings with remedies, hardware limits, and all known properties.

use ipcperf_plan::machine::warnings;
use ipcperf_results::analysis::AnalyzedFile;
use maud::{Markup, html};

use super::lettered;
use crate::terminal::{known_properties, limit_rows};

pub(super) fn section(files: &[AnalyzedFile]) -> Markup {
    html! {
        @for (file, letter) in lettered(files) {
            @if let Some(letter) = letter { h3 { (letter) } }
            (file_section(file))
        }
    }
}

fn file_section(file: &AnalyzedFile) -> Markup {
    let header = &file.results.header;
    let warnings = warnings(&header.environment);
    let sections = header.environment.sections();
    html! {
        @if warnings.is_empty() { p { "No warnings: no known problem affects measurements." } }
        ul { @for warning in &warnings {
            li { b { (warning.severity()) } ": " (warning) ". " span.quiet { "Remedy: " (warning.remedy()) } }
        } }
        @if let Some(limits) = &header.limits {
            (rows("Hardware limits", &limit_rows(limits)))
            @if !limits.missing.is_empty() {
                ul { @for reason in &limits.missing { li { "Not measured: " (reason) } } }
            }
        }
        details {
            summary { "Complete environment" }
            @for section in &sections { (rows(section.title, &known_properties(section))) }
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
