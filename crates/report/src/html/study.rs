//! The study: its question and its results, which come first in a report.

use maud::{Markup, html};

use super::figures::{self, FigureEntry};
use super::{instruments, verdicts};
use crate::figure::SeriesNames;
use crate::presentation::{
    Presentation, ShownFigure, ShownInstrumentFigure, ShownTable, StudyContext,
};

/// Shows the question, its source, and warnings about the verdicts.
pub(super) fn heading(context: &StudyContext) -> Markup {
    let study = &context.study;
    html! {
        p.question { (study.question) }
        @if let Some(source) = study.top.text("source") { p { "Source: " (source) "." } }
        @for warning in &context.warnings { p.grave { (warning) "." } }
        p.quiet { "Study " (study.name) ", SHA-256 " code { (study.hash) } "." }
    }
}

/// Returns the sections for verdicts, figures and tables, each with its link and heading.
pub(super) fn sections(
    presentation: &Presentation<'_>,
    names: &SeriesNames,
) -> Vec<(&'static str, &'static str, Markup)> {
    let mut sections = Vec::new();
    if !presentation.claims.is_empty() {
        sections.push(("verdicts", "Verdicts", verdicts::section(&presentation.claims, names)));
    }
    if !presentation.figures.is_empty() || !presentation.instrument_figures.is_empty() {
        let all = html! {
            @for some in presentation.figures.chunk_by(|one, next| one.chart.is_some() == next.chart.is_some()) {
                (study_figures(some, names))
            }
            @for one in &presentation.instrument_figures { (instrument_figure(one)) }
        };
        sections.push(("study-figures", "Figures of the study", all));
    }
    if !presentation.tables.is_empty() {
        let all = html! {
            p {
                "Each cell is the median of the valid repetitions. In parentheses follows the interquartile range as a \
                 percentage of the median, or the minimum and the maximum."
            }
            @for one in &presentation.tables { (table(one)) }
        };
        sections.push(("study-tables", "Tables of the study", all));
    }
    sections
}

/// Shows figures side by side where they fit; those that were not measured have only a heading and the reasons.
fn study_figures(shown: &[ShownFigure<'_>], names: &SeriesNames) -> Markup {
    let entries = shown.iter().filter_map(|one| {
        Some(FigureEntry { chart: one.chart.as_ref()?, absences: &one.absences })
    });
    let entries: Vec<FigureEntry<'_>> = entries.collect();
    html! {
        (figures::figures(&entries, names))
        @for missing in shown.iter().filter(|one| one.chart.is_none()) {
            h3 { "Figure " (missing.figure.number()) ": " (missing.figure.title()) }
            @for absence in &missing.absences { p.quiet { "Not measured: " (absence) "." } }
        }
    }
}

fn instrument_figure(shown: &ShownInstrumentFigure<'_>) -> Markup {
    html! {
        h3 id={ "instrument-figure-" (shown.figure.number()) } { (shown.caption()) }
        @if let Some(caption) = shown.figure.caption() { p { (caption) } }
        @for (letter, seen) in &shown.observations {
            @if let Some(letter) = letter { h4 { (letter) } }
            (instruments::observation(seen))
        }
        @for absence in &shown.absences { p.quiet { "Not observed: " (absence) "." } }
    }
}

fn table(shown: &ShownTable) -> Markup {
    html! {
        div.scroll { table {
            caption { (shown.caption) }
            @if !shown.rows.is_empty() {
                thead { tr {
                    @for (place, head) in shown.header.iter().enumerate() {
                        th.figure[place > 0] { (head) }
                    }
                } }
            }
            tbody { @for row in &shown.rows { (table_row(row)) } }
        } }
        @for note in &shown.notes { p.quiet { (note) } }
    }
}

fn table_row(row: &[String]) -> Markup {
    html! {
        @if let Some((name, cells)) = row.split_first() {
            tr { th scope="row" { (name) } @for cell in cells { td.figure { (cell) } } }
        }
    }
}
