//! The report of a real survey, and that of several files, follow every rule.

use crate::checks::{LOOKS, PAPER, QUIET, STRUCTURE, USE};
use crate::measured_report;
use crate::page::Page;

/// Opens the report of the survey of this process in a browser.
fn report(what: &str) -> Option<Page> {
    // The browser comes first: without one, no survey is needed.
    let page = Page::open(what, "<!doctype html>")?;
    page.turn_to(&measured_report::survey().report);
    Some(page)
}

#[test]
fn figures_answer_pointer_and_keyboard() {
    let Some(page) = report("the use of a report") else { return };
    page.assert_keeps(&[USE, QUIET]);
}

#[test]
fn figures_are_legible_in_light_and_dark_and_on_a_phone() {
    let Some(page) = report("the looks of a report") else { return };
    page.keep_pictures("survey");
    page.assert_keeps(&[LOOKS, QUIET]);
}

#[test]
fn paper_is_white_and_has_no_controls() {
    let Some(page) = report("a report on paper") else { return };
    page.assert_keeps(&[PAPER, QUIET]);
}

#[test]
fn a_report_can_be_read_without_being_seen() {
    let Some(page) = report("the structure of a report") else { return };
    page.assert_keeps(&[STRUCTURE, QUIET]);
}

/// Script that returns the panel headings and the head of the page.
const HEADS: &str = "
    const heads = [...document.querySelectorAll('.panel-box h4')].map(head => head.textContent);
    return [document.querySelector('header').textContent, ...heads].join('\\n');
";

#[test]
fn several_files_are_shown_in_one_report() {
    let Some(page) = Page::open("the report of several files", "<!doctype html>") else { return };
    let results = measured_report::survey().results.as_str();
    page.turn_to(&measured_report::report_of(&[
        ("before.jsonl", results),
        ("after.jsonl", results),
    ]));
    page.keep_pictures("several");
    page.assert_keeps(&[USE, LOOKS, PAPER, STRUCTURE, QUIET]);
    let printed = page.ask(HEADS, &[]);
    for words in ["before.jsonl", "after.jsonl", "\nA · ", "\nB · "] {
        assert!(
            printed.as_str().is_some_and(|printed| printed.contains(words)),
            "no {words:?} in {printed}"
        );
    }
}
