//! Comparison of several files: the same cases on different machines or days, with the ratio to the first.

use std::collections::{HashMap, HashSet};

use ipcperf_model::size::Bytes;
use ipcperf_model::units;
use ipcperf_results::analysis::{CaseSummary, Summarised};
use maud::{Markup, html};

use super::lettered;
use crate::wording::{by_heading, figure_text};

/// Identity of a case across files: heading, series and buffer size, as requested, without the actual CPUs.
type Question = (String, String, u64);
/// The cases of one file.
type Answers<'a> = HashMap<Question, &'a CaseSummary>;

pub(super) fn section(files: &[Summarised]) -> Markup {
    let letters: Vec<char> = lettered(files).filter_map(|(_, letter)| letter).collect();
    let answers: Vec<Answers> = files.iter().map(answers).collect();
    let questions = questions(files, &answers);
    html! {
        p {
            "The median of each case that two files or more have, and over that of the first. A ratio \
             stands where both have one mode; it is bold where their middle halves lie apart. What is \
             nearer than that may be chance, and what is bold may be the day: repeat both before \
             believing it."
        }
        @if questions.is_empty() { p { "No case was measured in two of the files." } }
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

/// Returns the cases of a file that have a main metric, in the order of its tables.
fn asked(file: &Summarised) -> Vec<(Question, &CaseSummary)> {
    let mut asked = Vec::new();
    for (heading, cases) in by_heading(&file.summaries) {
        let question = heading.question();
        let cases = cases.into_iter().filter(|case| case.main().is_some());
        asked.extend(
            cases.map(|case| ((question.clone(), case.series(), case.case.buffer_bytes), case)),
        );
    }
    asked
}

/// Returns the cases of a file by question. If the CPUs had several distance classes, the most frequent one, which
/// comes first, is used.
fn answers(file: &Summarised) -> Answers<'_> {
    let mut answers = HashMap::new();
    for (question, case) in asked(file) {
        answers.entry(question).or_insert(case);
    }
    answers
}

/// Returns all cases that at least two files have, grouped by the caption of their table.
fn questions(files: &[Summarised], answers: &[Answers]) -> Vec<(String, Vec<Question>)> {
    let mut tables: Vec<(String, Vec<Question>)> = Vec::new();
    let (mut known, mut places) = (HashSet::new(), HashMap::new());
    for file in files {
        for (question, _) in asked(file) {
            let count = answers.iter().filter(|file| file.contains_key(&question)).count();
            if count < 2 || !known.insert(question.clone()) {
                continue;
            }
            let place = *places.entry(question.0.clone()).or_insert_with_key(|about| {
                tables.push((about.clone(), Vec::new()));
                tables.len() - 1
            });
            tables[place].1.push(question);
        }
    }
    tables
}

fn row(question: &Question, answers: &[Answers]) -> Markup {
    let figures: Vec<Option<&CaseSummary>> =
        answers.iter().map(|file| file.get(question).copied()).collect();
    let first = figures.first().copied().flatten();
    html! {
        tr {
            th scope="row" { (question.1) } td.figure { (Bytes(question.2)) }
            @for case in &figures { td.figure { (case.map_or_else(String::new, in_words)) } }
            @for case in figures.iter().skip(1) {
                td.figure { @match ratio(first, *case) {
                    Some((ratio, Apart::Clearly)) => b { (ratio) }
                    Some((ratio, Apart::NotClearly)) => (ratio)
                    None => {}
                } }
            }
        }
    }
}

fn in_words(case: &CaseSummary) -> String {
    let Some(figure) = case.main() else { return String::new() };
    let class = case.cpu_pair_class.as_ref().map_or_else(String::new, |class| format!("\n{class}"));
    if case.modes.is_empty() {
        let spread = figure_text::spread_or_n(&figure.spread());
        return format!("{} ({spread}){class}", figure_text::median(&figure));
    }
    let mode = |mode: &ipcperf_results::analysis::Mode| {
        format!("{}: {}", units::percent(mode.share), figure_text::value(&figure, mode.median))
    };
    case.modes.iter().map(mode).collect::<Vec<_>>().join("\n") + &class
}

/// Returns the ratio of the second median to the first, if both have a single mode, and whether their middle halves are
/// disjoint.
fn ratio(first: Option<&CaseSummary>, second: Option<&CaseSummary>) -> Option<(String, Apart)> {
    let of = |case: Option<&CaseSummary>| {
        Some(case.filter(|case| case.modes.is_empty())?.main()?.spread())
    };
    let (first, second) = (of(first)?, of(second)?);
    let apart = match (first.middle_half(), second.middle_half()) {
        (Some([low, high]), Some([from, to])) if low > to || from > high => Apart::Clearly,
        _ => Apart::NotClearly,
    };
    Some((format!("{:.2}", second.median / first.median), apart))
}

/// Whether the middle halves of two medians are disjoint.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Apart {
    Clearly,
    NotClearly,
}
