//! The study: its question and its results, which come first in a report.

use maud::{Markup, html};

use super::{claims, figures, watched};
use crate::figure::Names;
use crate::presentation::{Asked, Exhibits, ShownFigure, ShownPicture, ShownTable};

/// Shows the question, its source, and warnings about the verdicts.
pub(super) fn heading(asked: &Asked) -> Markup {
    let study = &asked.study;
    html! {
        p.question { (study.question) }
        @if let Some(source) = study.top.text("source") { p { "After: " (source) "." } }
        @for warning in &asked.warnings { p.grave { (warning) "." } }
        p.quiet { "Study " (study.name) ", SHA-256 " code { (study.hash) } "." }
    }
}

/// Returns the sections for verdicts, figures and tables, each with its link and heading.
pub(super) fn sections(
    exhibits: &Exhibits<'_>,
    names: &Names,
) -> Vec<(&'static str, &'static str, Markup)> {
    let mut sections = Vec::new();
    if !exhibits.claims.is_empty() {
        sections.push(("verdicts", "Verdicts", claims::section(&exhibits.claims, names)));
    }
    if !exhibits.figures.is_empty() || !exhibits.pictures.is_empty() {
        let all = html! {
            @for one in &exhibits.figures { (figure(one, names)) }
            @for one in &exhibits.pictures { (picture(one)) }
        };
        sections.push(("study-figures", "Figures of the study", all));
    }
    if !exhibits.tables.is_empty() {
        let all = html! {
            p {
                "Medians of the kept repetitions, and beside each the interquartile range as a share of it, or the \
                 least and the most."
            }
            @for one in &exhibits.tables { (table(one)) }
        };
        sections.push(("study-tables", "Tables of the study", all));
    }
    sections
}

fn figure(shown: &ShownFigure<'_>, names: &Names) -> Markup {
    html! {
        @match &shown.chart {
            Some(chart) => (figures::figure(chart, names)),
            None => h3 { "Figure " (shown.figure.number()) ": " (shown.figure.title()) },
        }
        @for absence in &shown.absences { p.quiet { "Not measured: " (absence) "." } }
    }
}

fn picture(shown: &ShownPicture<'_>) -> Markup {
    html! {
        h3 id={ "picture-" (shown.picture.number()) } { (shown.caption()) }
        @if let Some(see) = shown.picture.see() { p { (see) } }
        @for (letter, seen) in &shown.seen {
            @if let Some(letter) = letter { h4 { (letter) } }
            (watched::one(seen))
        }
        @for absence in &shown.absences { p.quiet { "Not seen: " (absence) "." } }
    }
}

fn table(shown: &ShownTable) -> Markup {
    html! {
        div.scroll { table {
            caption { (shown.caption) }
            @if !shown.rows.is_empty() {
                thead { tr {
                    @for (place, head) in shown.head.iter().enumerate() {
                        th.figure[place > 0] { (head) }
                    }
                } }
            }
            tbody { @for row in &shown.rows { (cells(row)) } }
        } }
        @for note in &shown.notes { p.quiet { (note) } }
    }
}

fn cells(row: &[String]) -> Markup {
    html! {
        @if let Some((name, cells)) = row.split_first() {
            tr { th scope="row" { (name) } @for cell in cells { td.figure { (cell) } } }
        }
    }
}
