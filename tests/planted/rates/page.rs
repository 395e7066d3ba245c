//! The page of error rates.

use std::fmt::Write as _;

use super::noise::NOISES;
use super::nulls::{NULLS, Wrong};
use super::{BLOCKS, LEVEL, LINES, MANY_BLOCKS, NOISE, Rate, float};

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
         --release -p ipcperf --test planted rates -->\n\nHow often each test of a hypothesis says what is wrong, \
         at a level of {:.0} %. Results files were made up in which every claim lies on its bound, where a wrong \
         verdict is likeliest, and judged by `ipcperf study judge`: {sets} claims for each number, so that a rate \
         of {:.0} % has a standard error of {error:.1} %.\n\nA claim is about {} lines (for tests of two lines \
         pairs) of 4 levels, with {} repetitions. The logarithm of a value has a standard deviation of {:.0} %, \
         and what the values of a block have in common one of three times that.\n\n\
         - **Independent blocks**: a wrong verdict is at most as frequent as its formula says (*nominal*).\n\
         - **Dependent blocks**: `supported` is wrong at most twice as often as the level allows, {:.0} %, from \
         {MANY_BLOCKS} repetitions on. Fewer cannot show whether blocks are independent: there the rates are \
         what they are. A wrong `rejected` has no bar.\n\nRates above their bar by more than chance explains \
         are **bold**.\n",
        100.0 * LEVEL,
        100.0 * LEVEL,
        series(&LINES.map(|lines| lines.to_string())),
        series(&BLOCKS.map(|blocks| blocks.to_string())),
        100.0 * NOISE,
        200.0 * LEVEL,
    )
}

/// Formats a list as `1, 3 or 6`.
fn series(words: &[String]) -> String {
    let (last, others) = words.split_last().expect("some words");
    format!("{} or {last}", others.join(", "))
}

fn claims(page: &mut String) {
    *page +=
        "\n## Claims\n\n| test | wrong is | nominal | where the truth is |\n|---|---|--:|---|\n";
    for null in &NULLS {
        let (verdict, nominal) = (null.wrong.verdict(), 100.0 * null.nominal);
        let _ = writeln!(page, "| {} | {verdict} | {nominal} % | {} |", null.test, null.truth);
    }
}

/// Writes the rates under the conditions of one kind of noise.
fn table(page: &mut String, rates: &[&Rate]) {
    let (mut heading, mut rule) = ("| test | wrong is |".to_owned(), "|---|---|".to_owned());
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
