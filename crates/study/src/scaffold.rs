//! The file that `study new` writes: every key with its description, and the required ones filled in.

use std::borrow::Cow;

use textwrap::{Options, WordSeparator, WordSplitter};

use super::key::{Key, Requirement};
use super::section::Section;
use super::section_keys::{HYPOTHESIS, MATRIX, SAMPLING, TOP};
use crate::display_sections::{FIGURE, INSTRUMENT_FIGURE, TABLE};
use crate::hypothesis::TESTS;

/// Width of the file, columns.
const WIDTH: usize = 110;
/// Column at which descriptions begin. Longer keys get a line of their own.
const DESCRIPTION_COLUMN: usize = 46;

/// Returns the text of a study called `name` that passes `study check` and runs as is.
pub fn scaffold(name: &str) -> String {
    let named = format!("name = \"{name}\"");
    let top = section(&TOP, &[line(&named, TOP.keys[0].about)], &TOP.keys[1..]);
    let about = comment(
        "A study: a question, the cases to measure, and the claims to test. It runs as it is. Lines that \
         start with # show optional keys: remove the # and change the value. Check it: ipcperf study \
         check FILE. See the cases and the estimated time: ipcperf study plan FILE. Measure and judge: \
         ipcperf study run FILE. See docs/writing-a-study.md.",
    );
    let editors = comment(
        "Editors with Taplo explain keys and mark mistakes if the first line is #:schema \
         ./study.schema.json and that file exists: ipcperf study show --schema > study.schema.json",
    );
    let parts = [
        format!("{about}#\n{editors}"),
        top,
        section(&SAMPLING, &[], SAMPLING.keys),
        section(&MATRIX, &[], MATRIX.keys),
        section(&TABLE, &[], TABLE.keys),
        section(&FIGURE, &[], FIGURE.keys),
        commented_out(&section(&INSTRUMENT_FIGURE, &[], INSTRUMENT_FIGURE.keys)),
        section(&HYPOTHESIS, &[], HYPOTHESIS.keys) + &test_keys(),
        tests(),
    ];
    parts.join("\n")
}

/// Formats a section: description, heading, the lines of `first`, then `keys`.
fn section(section: &Section, first: &[String], keys: &[Key]) -> String {
    let heading =
        if section.name.is_empty() { String::new() } else { format!("{}\n", section.heading()) };
    let keys: String = first.iter().cloned().chain(keys.iter().map(key)).collect();
    format!("{}{heading}{keys}", comment(section.about))
}

/// Comments out `lines`.
fn commented_out(lines: &str) -> String {
    let line = |line: &str| {
        if line.starts_with('#') { format!("{line}\n") } else { format!("# {line}\n") }
    };
    lines.lines().map(line).collect()
}

/// Formats a key. Optional keys are commented out.
fn key(key: &Key) -> String {
    let given = format!("{} = {}", key.name, key.example);
    match key.requirement {
        Requirement::Required | Requirement::Unless(_) => line(&given, key.about),
        Requirement::Optional(usual) => {
            line(&format!("# {given}"), &format!("{} [default: {usual}]", key.about))
        }
    }
}

/// Formats `left` followed by its description, which starts on the next line if `left` is too wide.
fn line(left: &str, words: &str) -> String {
    let mut left = left.to_owned();
    let mut lines = String::new();
    if left.chars().count() >= DESCRIPTION_COLUMN {
        lines = format!("{left}\n");
        left.clear();
    }
    for words in wrapped(words, WIDTH - DESCRIPTION_COLUMN) {
        lines += &format!("{left:<DESCRIPTION_COLUMN$}# {words}\n");
        left.clear();
    }
    lines
}

/// Formats the keys of the test that the scaffold uses.
fn test_keys() -> String {
    let test = &TESTS[0];
    let keys: String = test.keys.iter().map(key).collect();
    format!("{}{keys}", comment(&format!("Keys of the test {}:", test.name)))
}

/// Lists the available tests.
fn tests() -> String {
    let list = TESTS.iter().map(|test| line(&format!("#   {}", test.name), test.about));
    let about = comment(
        "Tests for hypotheses; docs/hypotheses.md has the keys, formula and assumptions of each:",
    );
    about + &list.collect::<String>()
}

fn comment(words: &str) -> String {
    wrapped(words, WIDTH - 2).iter().map(|line| format!("# {line}\n")).collect()
}

/// Wraps `words` without breaking at hyphens, which occur in commands and names.
fn wrapped(words: &str, width: usize) -> Vec<String> {
    let options = Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(words, options).into_iter().map(Cow::into_owned).collect()
}
