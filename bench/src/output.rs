//! Output of findings: a table for people, or a JSON array.

use std::io::Write;

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{CellAlignment, ContentArrangement, Table};

use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Unit, Verdict};

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Table,
    Json,
}

/// Prints a message to standard error.
pub(crate) fn print_message(words: &str) {
    // Errors are ignored: the bench continues without a reader.
    let _ = writeln!(std::io::stderr(), "{words}");
}

/// Prints `print_answer` for the process that started this program.
pub(crate) fn print_answer(answer: &u64) {
    // Errors are ignored: the parent no longer needs the answer.
    let _ = writeln!(std::io::stdout(), "{answer}");
}

/// Reports a finding on standard error as soon as it is made, and returns it.
pub(crate) fn announce(finding: Finding) -> Finding {
    let question = &finding.question;
    let mut parts = vec![format!("{}: {}:", question.bench, question.case)];
    if let Some(estimate) = &finding.estimate {
        parts.extend([median(&finding, estimate), interval(&finding, estimate)]);
    }
    parts.push(verdict_text(finding.verdict).to_owned());
    parts.extend(finding.note.as_ref().map(|note| format!("({note})")));
    parts.retain(|part| !part.is_empty());
    print_message(&parts.join(" "));
    finding
}

/// Prints all findings on standard output and returns them.
pub(crate) fn present(findings: &[Finding], form: Form) -> Result<Vec<Finding>, BenchError> {
    let text = match form {
        Form::Json => serde_json::to_string_pretty(findings).unwrap_or_default(),
        Form::Table => format!("{}\n{}", table(findings), summary(findings)),
    };
    writeln!(std::io::stdout(), "{text}")
        .map_err(|error| BenchError::Io("standard output".to_owned(), error))?;
    Ok(findings.to_vec())
}

fn table(findings: &[Finding]) -> Table {
    let mut table = Table::new();
    // Wrapped to the width of the terminal; unlimited without one.
    table.load_style(UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header([
        "bench",
        "case",
        "median",
        "95 % interval",
        "interquartile range",
        "n",
        "bar",
        "verdict",
    ]);
    for finding in findings {
        table.add_row(row(finding));
    }
    for column in table.column_iter_mut().skip(2).take(4) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn row(finding: &Finding) -> Vec<String> {
    let question = &finding.question;
    let mut cells = vec![question.bench.to_owned(), question.case.clone()];
    match &finding.estimate {
        None => cells.extend(vec![String::new(); 4]),
        Some(estimate) => cells.extend([
            median(finding, estimate),
            interval(finding, estimate),
            middle_half(finding, estimate),
            estimate.n.to_string(),
        ]),
    }
    cells.extend([bar(finding), verdict_text(finding.verdict).to_owned()]);
    cells
}

fn median(finding: &Finding, estimate: &Estimate) -> String {
    figure(estimate.median, finding.question.unit)
}

fn interval(finding: &Finding, estimate: &Estimate) -> String {
    estimate.interval.map_or_else(String::new, |ends| range(ends, finding.question.unit))
}

fn middle_half(finding: &Finding, estimate: &Estimate) -> String {
    if estimate.n == 1 {
        return String::new();
    }
    range(estimate.quartiles, finding.question.unit)
}

fn bar(finding: &Finding) -> String {
    let unit = finding.question.unit;
    match finding.question.bar {
        Bar::Between(low, high) => range([low, high], unit),
        Bar::AtMost(high) => format!("at most {}", figure(high, unit)),
        Bar::AtLeast(low) => format!("at least {}", figure(low, unit)),
        Bar::None => String::new(),
    }
}

const fn verdict_text(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Met => "met",
        Verdict::NotMet => "not met",
        Verdict::NotTestable => "not testable here",
        Verdict::Shown => "shown",
    }
}

fn range([low, high]: [f64; 2], unit: Unit) -> String {
    format!("{} to {}", figure(low, unit), figure(high, unit))
}

fn figure(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Ratio => format!("{value:.3}"),
        Unit::Cells | Unit::Runs => format!("{value:.0}"),
        Unit::Bytes => format!("{:.1} MB", value / 1e6),
        Unit::Ns if value >= 1e9 => format!("{:.1} s", value / 1e9),
        Unit::Ns if value >= 1e6 => format!("{:.2} ms", value / 1e6),
        Unit::Ns if value >= 1e3 => format!("{:.2} us", value / 1e3),
        Unit::Ns => format!("{value:.2} ns"),
    }
}

/// Formats a size as it is typed: 64 B, 4 KiB, 1 MiB.
pub(crate) fn bytes(bytes: u64) -> String {
    let units = [(1 << 20, "MiB"), (1 << 10, "KiB")];
    let whole = |(factor, _): &(u64, &str)| bytes >= *factor && bytes.is_multiple_of(*factor);
    let (factor, name) = units.into_iter().find(whole).unwrap_or((1, "B"));
    format!("{} {name}", bytes / factor)
}

/// Formats the notes, the number of bars met, and the number of figures without a bar.
fn summary(findings: &[Finding]) -> String {
    let (shown, barred): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|finding| finding.question.bar == Bar::None);
    let of = |findings: &[&Finding], verdict| {
        findings.iter().filter(|finding| finding.verdict == verdict).count()
    };
    let total = format!(
        "{} of {} bars met, {} not met, {} not testable here",
        of(&barred, Verdict::Met),
        barred.len(),
        of(&barred, Verdict::NotMet),
        of(&barred, Verdict::NotTestable)
    );
    let without_bar = (!shown.is_empty())
        .then(|| format!("{} of {} without a bar shown", of(&shown, Verdict::Shown), shown.len()));
    notes(findings).into_iter().chain([total]).chain(without_bar).collect::<Vec<_>>().join("\n")
}

/// Formats each note once, after the cases that it applies to.
fn notes(findings: &[Finding]) -> Vec<String> {
    let noted = findings.iter().filter(|finding| finding.note.is_some());
    let same =
        |a: &&Finding, b: &&Finding| (a.question.bench, &a.note) == (b.question.bench, &b.note);
    let noted: Vec<&Finding> = noted.collect();
    let line = |group: &[&Finding]| {
        let cases: Vec<&str> = group.iter().map(|one| one.question.case.as_str()).collect();
        let note = group[0].note.as_deref().unwrap_or_default();
        format!("{}, {}: {note}", group[0].question.bench, cases.join(", "))
    };
    noted.chunk_by(same).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Question;

    #[test]
    fn figures_have_their_units() {
        assert_eq!(figure(0.9987, Unit::Ratio), "0.999");
        assert_eq!(figure(0.79, Unit::Ns), "0.79 ns");
        assert_eq!(figure(2.345e6, Unit::Ns), "2.35 ms");
        assert_eq!(figure(49.2e9, Unit::Ns), "49.2 s");
        assert_eq!([bytes(1), bytes(4096), bytes(1 << 20)], ["1 B", "4 KiB", "1 MiB"]);
    }

    #[test]
    fn a_figure_without_a_bar_is_not_counted_among_bars() {
        let question = |bar| Question { bench: "test", case: "one".into(), unit: Unit::Ratio, bar };
        let met = question(Bar::AtMost(2.0)).judge(Estimate::single(1.0), None);
        let shown = question(Bar::None).judge(Estimate::single(9.0), None);
        let untested = question(Bar::None).untestable("no tool");
        let said = summary(&[met.clone(), shown, untested]);
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[1], "1 of 1 bars met, 0 not met, 0 not testable here");
        assert_eq!(lines[2], "1 of 2 without a bar shown");
        assert_eq!(summary(&[met]).lines().count(), 1);
    }
}
