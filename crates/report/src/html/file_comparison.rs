//! Comparison of several files: the same cases on different machines or days, with the ratio to the first.

use std::collections::{HashMap, HashSet};

use ipcperf_model::size::Bytes;
use ipcperf_model::units;
use ipcperf_results::analysis::{AnalyzedFile, CaseSummary};
use maud::{Markup, html};

use super::lettered;
use crate::wording::{by_heading, metric_text};

/// Identity of a case across files: heading, series and buffer size, as requested, without the actual CPUs.
type CaseKey = (String, String, u64);
/// The cases of one file.
type CasesByKey<'a> = HashMap<CaseKey, &'a CaseSummary>;

pub(super) fn section(files: &[AnalyzedFile]) -> Markup {
    let letters: Vec<char> = lettered(files).filter_map(|(_, letter)| letter).collect();
    let files_by_key: Vec<CasesByKey> = files.iter().map(cases_by_key).collect();
    let tables = common_cases(files, &files_by_key);
    html! {
        p {
            "The tables show the median of each case that two or more files have, and its ratio to the median in the \
             first file. If one of the two results falls into several modes, there is no ratio. A ratio is bold if \
             the interquartile ranges of the two files do not overlap. This is not a statistical test, and a machine \
             differs from day to day: before you rely on a ratio near 1, measure both again, in alternation."
        }
        @if tables.is_empty() { p { "No case was measured in two of the files." } }
        @for (about, cases) in &tables {
            div.scroll { table {
                caption { (about) }
                thead { tr {
                    th { "mechanism" } th.figure { "buffer" }
                    @for letter in &letters { th.figure { (letter) } }
                    @for letter in &letters[1..] { th.figure { (letter) " / " (letters[0]) } }
                } }
                tbody { @for question in cases { (row(question, &files_by_key)) } }
            } }
        }
    }
}

/// Returns the cases of a file that have a main metric, in the order of its tables.
fn measured_cases(file: &AnalyzedFile) -> Vec<(CaseKey, &CaseSummary)> {
    let mut cases_by_request = Vec::new();
    for (heading, cases) in by_heading(&file.summaries) {
        let question = heading.request_text();
        let cases = cases.into_iter().filter(|case| case.main().is_some());
        cases_by_request.extend(
            cases.map(|case| ((question.clone(), case.series(), case.case.buffer_bytes), case)),
        );
    }
    cases_by_request
}

/// Returns the cases of a file by question. If the CPUs had several distance classes, the most frequent one, which
/// comes first, is used.
fn cases_by_key(file: &AnalyzedFile) -> CasesByKey<'_> {
    let mut answers = HashMap::new();
    for (question, case) in measured_cases(file) {
        answers.entry(question).or_insert(case);
    }
    answers
}

/// Returns all cases that at least two files have, grouped by the caption of their table.
fn common_cases(
    files: &[AnalyzedFile],
    cases_by_key: &[CasesByKey],
) -> Vec<(String, Vec<CaseKey>)> {
    let mut tables: Vec<(String, Vec<CaseKey>)> = Vec::new();
    let (mut known, mut places) = (HashSet::new(), HashMap::new());
    for file in files {
        for (question, _) in measured_cases(file) {
            let count = cases_by_key.iter().filter(|file| file.contains_key(&question)).count();
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

fn row(key: &CaseKey, files: &[CasesByKey]) -> Markup {
    let figures: Vec<Option<&CaseSummary>> =
        files.iter().map(|file| file.get(key).copied()).collect();
    let first = figures.first().copied().flatten();
    let any = figures.iter().flatten().next();
    let size = any.map_or_else(|| Bytes(key.2).to_string(), |case| case.case.size_text());
    html! {
        tr {
            th scope="row" { (key.1) } td.figure { (size) }
            @for case in &figures { td.figure { (case.map_or_else(String::new, cell_text)) } }
            @for case in figures.iter().skip(1) {
                td.figure { @match ratio(first, *case) {
                    Some((ratio, Separation::Disjoint)) => b { (ratio) }
                    Some((ratio, Separation::Overlapping)) => (ratio)
                    None => {}
                } }
            }
        }
    }
}

fn cell_text(case: &CaseSummary) -> String {
    let Some(figure) = case.main() else { return String::new() };
    let class = case.cpu_pair_class.as_ref().map_or_else(String::new, |class| format!("\n{class}"));
    if case.modes.is_empty() {
        let spread = metric_text::spread_or_n(&figure.spread());
        return format!("{} ({spread}){class}", metric_text::median(&figure));
    }
    let mode = |mode: &ipcperf_results::analysis::DistributionMode| {
        format!("{}: {}", units::percent(mode.share), metric_text::value(&figure, mode.median))
    };
    case.modes.iter().map(mode).collect::<Vec<_>>().join("\n") + &class
}

/// Returns the ratio of the second median to the first, if both have a single mode, and whether their middle halves are
/// disjoint.
fn ratio(
    first: Option<&CaseSummary>,
    second: Option<&CaseSummary>,
) -> Option<(String, Separation)> {
    let unimodal_spread = |case: Option<&CaseSummary>| {
        Some(case.filter(|case| case.modes.is_empty())?.main()?.spread())
    };
    let (first, second) = (unimodal_spread(first)?, unimodal_spread(second)?);
    let apart = match (first.quartiles(), second.quartiles()) {
        (Some([low, high]), Some([from, to])) if low > to || from > high => Separation::Disjoint,
        _ => Separation::Overlapping,
    };
    Some((format!("{:.2}", second.median / first.median), apart))
}

/// Whether the middle halves of two medians are disjoint.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Separation {
    Disjoint,
    Overlapping,
}
