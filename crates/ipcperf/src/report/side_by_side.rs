//! Several files: the same cases on different machines or days, with the ratio to the first.

use std::collections::{HashMap, HashSet};

use maud::{Markup, html};

use super::lettered;
use crate::output::{headings, units};
use crate::plan::Bytes;
use crate::summary::{CaseSummary, Figure, Summarised};

/// What makes a case the same in two files: what was asked, not the CPUs that were found for it.
type Question = (String, String, u64);

pub(super) fn section(files: &[Summarised]) -> Markup {
    let letters: Vec<char> = lettered(files).filter_map(|(_, letter)| letter).collect();
    let answers: Vec<HashMap<Question, &CaseSummary>> = files.iter().map(answers).collect();
    let questions = questions(files);
    html! {
        p {
            "Median of each case in each file, and over that of the first; a ratio is shown where \
             both have one mode. Whether a ratio is more than chance, look at the spreads: a \
             difference within the middle halves is none."
        }
        @for (about, cases) in &questions {
            div.scroll { table {
                caption { (about) }
                thead { tr {
                    th { "mechanism" } th.figure { "buffer" }
                    @for letter in &letters { th.figure { (letter) } }
                    @for letter in &letters[1..] { th.figure { (letter) " / " (letters[0]) } }
                } }
                tbody { @for question in cases { (row(question, &answers)) } }
            } }
        }
    }
}

/// The figures of a file by what was asked; where the CPUs were at several distances, those of the
/// most frequent one, which comes first.
fn answers(file: &Summarised) -> HashMap<Question, &CaseSummary> {
    let mut answers = HashMap::new();
    for heading in headings(&file.summaries) {
        for case in file.summaries.iter().filter(|case| heading.is_of(case)) {
            answers
                .entry((heading.question(), case.series(), case.case.buffer_bytes))
                .or_insert(case);
        }
    }
    answers
}

/// All cases that any file has, by what is said above their table.
fn questions(files: &[Summarised]) -> Vec<(String, Vec<Question>)> {
    let mut tables: Vec<(String, Vec<Question>)> = Vec::new();
    let mut known: HashSet<Question> = HashSet::new();
    for file in files {
        for heading in headings(&file.summaries) {
            for case in file.summaries.iter().filter(|case| heading.is_of(case)) {
                let question = (heading.question(), case.series(), case.case.buffer_bytes);
                if case.main().is_none() || !known.insert(question.clone()) {
                    continue;
                }
                match tables.iter_mut().find(|(about, _)| *about == question.0) {
                    Some((_, cases)) => cases.push(question),
                    None => tables.push((question.0.clone(), vec![question])),
                }
            }
        }
    }
    tables
}

fn row(question: &Question, answers: &[HashMap<Question, &CaseSummary>]) -> Markup {
    let figures: Vec<Option<&CaseSummary>> =
        answers.iter().map(|file| file.get(question).copied()).collect();
    let first = figures.first().copied().flatten();
    html! {
        tr {
            th scope="row" { (question.1) } td.figure { (Bytes(question.2)) }
            @for case in &figures { td.figure { (case.map_or_else(String::new, in_words)) } }
            @for case in figures.iter().skip(1) {
                td.figure { (ratio(first, *case).unwrap_or_default()) }
            }
        }
    }
}

fn in_words(case: &CaseSummary) -> String {
    let Some(figure) = case.main() else { return String::new() };
    let class = case.cpu_pair_class.as_ref().map_or_else(String::new, |class| format!("\n{class}"));
    if case.modes.is_empty() {
        let spread = units::relative_iqr(&figure.spread());
        return format!("{} ({spread}){class}", units::median(&figure));
    }
    let mode = |mode: &crate::summary::Mode| {
        format!("{}: {}", units::percent(mode.share), units::value(&figure, mode.median))
    };
    case.modes.iter().map(mode).collect::<Vec<_>>().join("\n") + &class
}

/// The second's median over the first's, where both have one mode.
fn ratio(first: Option<&CaseSummary>, second: Option<&CaseSummary>) -> Option<String> {
    let of = |case: Option<&CaseSummary>| {
        case.filter(|case| case.modes.is_empty())?
            .main()
            .map(|figure: Figure| figure.spread().median)
    };
    Some(format!("{:.2}", of(second)? / of(first)?))
}
