//! The page of error rates.

use std::fmt::Write as _;

use super::noise::NOISES;
use super::nulls::{LEVELS, NULLS, Wrong};
use super::{BETWEEN_BLOCKS, BLOCKS, LEVEL, LINES, MANY_BLOCKS, NOISE, Rate, float};

/// Returns `docs/error-rates.md`.
pub(super) fn page(rates: &[Rate]) -> String {
    let sets = rates.first().map_or(0, |rate| rate.sets);
    let mut page = head(sets);
    claims(&mut page);
    for noise in NOISES {
        let of_noise: Vec<&Rate> =
            rates.iter().filter(|rate| rate.condition.noise == noise).collect();
        if !of_noise.is_empty() {
            let _ = writeln!(page, "\n## {}\n", noise.name());
            table(&mut page, &of_noise);
        }
    }
    page
}

fn head(sets: usize) -> String {
    let error = 100.0 * (LEVEL * (1.0 - LEVEL) / float(sets.max(1))).sqrt();
    format!(
        "# Error rates\n\n<!-- Made by tests/planted: IPCPERF_ERROR_RATES={sets} IPCPERF_WRITE_DOCS=1 cargo test \
         --release -p ipcperf --test planted rates -->\n\nHow often does each [hypothesis test](hypotheses.md#tests) \
         give a wrong verdict at an [alpha](glossary.md#alpha) of {:.0} %? For each rate on this page, `ipcperf study \
         judge` judged {sets} claims about simulated values. Each claim has at least one true value exactly on the \
         bound at which the verdict changes. A wrong verdict is most likely there. If the true rate is {:.0} %, a \
         measured rate has a standard error of {error:.1} percentage points.\n\nA claim is about {} \
         [lines](glossary.md#line) with {LEVELS} [levels](glossary.md#level) each. If the test compares two lines, the \
         claim is about {} pairs of lines; the tables count a pair as one line. Each case has {} repetitions (*n*), \
         one per block. The logarithm of a value has two random parts. The first part is different for each value, and \
         has a standard deviation of {:.0} %. The headings of the tables below name the distribution of the first \
         part. If they say *dependent blocks*, the first part also depends on the first part of the same case in the \
         previous block. The second part is the same for all values of a block. It is normally distributed and has a \
         standard deviation of {:.0} %.\n\nThe rates have these limits:\n\n- **Independent blocks**: the limit is the \
         *nominal* rate, which follows from the formula of the test. The first table, below [Claims](#claims), lists \
         the nominal rates.\n- **Dependent blocks**, wrong verdict *supported*: from {MANY_BLOCKS} repetitions on, the \
         limit is {:.0} %, twice the alpha. ipcperf does not support a claim if it [detects \
         dependence](hypotheses.md#independence-of-blocks). With fewer repetitions, ipcperf often misses the \
         dependence, so there is no limit.\n- **Dependent blocks**, wrong verdict *rejected*: there is no limit, \
         because a rejected claim stays rejected if ipcperf detects dependence.\n\nA rate that exceeds its limit by \
         more than chance explains is **bold**.\n",
        100.0 * LEVEL,
        100.0 * LEVEL,
        series(&LINES.map(|lines| lines.to_string())),
        series(&LINES.map(|lines| lines.to_string())),
        series(&BLOCKS.map(|blocks| blocks.to_string())),
        100.0 * NOISE,
        100.0 * BETWEEN_BLOCKS,
        200.0 * LEVEL,
    )
}

/// Formats a list as `1, 3 or 6`.
fn series(words: &[String]) -> String {
    let (last, others) = words.split_last().expect("some words");
    format!("{} or {last}", others.join(", "))
}

fn claims(page: &mut String) {
    *page += "\n## Claims\n\nFor each test, two claims were judged. In the first claim, a true value is on the bound \
     beyond which *supported* is the right verdict. On the bound itself, *supported* is wrong. In the second claim, a \
     true value is on the bound beyond which *rejected* is the right verdict. On the bound itself, *rejected* is \
     wrong. The last column describes the true values of each claim. The margin, the tolerance, the bounds, \
     `negligible` and `from` are keys of the claim ([hypotheses.md](hypotheses.md#tests)).\n\n| test | wrong verdict | \
     nominal rate | true values |\n|---|---|--:|---|\n";
    for null in &NULLS {
        let (verdict, nominal) = (null.wrong.verdict(), 100.0 * null.nominal);
        let _ = writeln!(page, "| {} | {verdict} | {nominal} % | {} |", null.test, null.truth);
    }
}

/// Writes the rates under the conditions of one kind of noise.
fn table(page: &mut String, rates: &[&Rate]) {
    let (mut heading, mut rule) = ("| test | wrong verdict |".to_owned(), "|---|---|".to_owned());
    for rate in rates {
        let (lines, blocks) = (rate.condition.lines, rate.condition.blocks);
        let plural = if lines == 1 { "" } else { "s" };
        let _ = write!(heading, " {lines} line{plural}, n = {blocks} |");
        rule += "--:|";
    }
    let _ = writeln!(page, "{heading}\n{rule}");
    for wrong in [Wrong::Support, Wrong::Rejection] {
        for (place, null) in NULLS.iter().enumerate().filter(|(_, null)| null.wrong == wrong) {
            let cells = rates.iter().map(|rate| cell(rate, place));
            let cells = cells.collect::<Vec<_>>().join(" | ");
            let _ = writeln!(page, "| {} | {} | {cells} |", null.test, wrong.verdict());
        }
    }
}

/// Formats a rate, in bold if it exceeds its criterion.
fn cell(rate: &Rate, place: usize) -> String {
    let share = format!("{:.1} %", 100.0 * float(rate.wrong[place]) / float(rate.sets));
    if rate.is_well(place) { share } else { format!("**{share}**") }
}
