//! The report of a real study follows every rule and starts with the verdicts.

use crate::checks::{LOOKS, PAPER, QUIET, STRUCTURE, USE};
use crate::page::Page;
use crate::sandbox::Sandbox;
use std::fs;

/// A study with two lines, a claim for each kind of figure, a table and a figure of its own.
const STUDY: &str = include_str!("files/study.toml");

/// Measures the study and returns its report.
fn report() -> String {
    let sandbox = Sandbox::open();
    let (study, page) = (sandbox.path("study.toml"), sandbox.path("study.html"));
    fs::write(&study, STUDY).expect("a study");
    let mut command = sandbox.command("study run --quick");
    command.arg(&study).arg("--out").arg(sandbox.results()).arg("--report").arg(&page);
    let finished = sandbox.finish(command).expect(0);
    assert!(finished.stdout.contains("Table 1: Both"), "{}", finished.stdout);
    fs::read_to_string(page).expect("a report")
}

/// Script that returns the contents above the first section that all reports share.
const FIRST: &str = "
    const badges = [...document.querySelectorAll('#verdicts .claim .badge')].map(one => one.textContent);
    return [document.querySelector('h1').textContent, ...badges].join('\\n');
";

#[test]
fn a_study_is_shown_by_the_rules_of_all_reports() {
    let Some(page) = Page::open("the report of a study", "<!doctype html>") else { return };
    page.turn_to(&report());
    page.keep_pictures("study");
    page.assert_keeps(&[USE, LOOKS, PAPER, STRUCTURE, QUIET]);
    let printed = page.ask(FIRST, &[]);
    let lines: Vec<&str> = printed.as_str().expect("words").lines().collect();
    assert_eq!((lines[0], lines.len()), ("Which carries more?", 4), "{lines:?}");
    let words = ["supported", "rejected", "inconclusive", "not testable here"];
    assert!(lines[1..].iter().all(|badge| words.iter().any(|word| badge.ends_with(word))));
}
