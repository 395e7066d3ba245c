//! The file that `study new` writes: every key with its description, and the required ones filled in.

use std::borrow::Cow;

use textwrap::{Options, WordSeparator, WordSplitter};

use super::key::{Key, Need};
use super::section::Section;
use super::sections::{HYPOTHESIS, MATRIX, SAMPLING, TOP};
use crate::display_schema::{FIGURE, PICTURE, TABLE};
use crate::hypothesis::TESTS;

/// Width of the file, columns.
const WIDTH: usize = 110;
/// Column at which descriptions begin. Longer keys get a line of their own.
const WORDS_AT: usize = 46;

/// Returns the text of a study called `name` that passes `study check` and runs as is.
pub fn scaffold(name: &str) -> String {
    let named = format!("name = \"{name}\"");
    let top = section(&TOP, &[line(&named, TOP.keys[0].about)], &TOP.keys[1..]);
    let about = comment(
        "A study: what is asked, what is measured to answer it, and what is claimed beforehand. It can be run as \
         it is. Lines that begin with # say what else there is: take the # away, and change what stands there. \
         Check it: ipcperf study check FILE. What it does, and how long that takes: ipcperf study plan FILE. \
         Measure and judge: ipcperf study run FILE. All of it is explained in docs/writing-a-study.md.",
    );
    let editors = comment(
        "Editors that know Taplo explain keys and mark mistakes where the first line is #:schema ./study.schema.json \
         and that file is there: ipcperf study show --schema > study.schema.json",
    );
    let parts = [
        format!("{about}#\n{editors}"),
        top,
        section(&SAMPLING, &[], SAMPLING.keys),
        section(&MATRIX, &[], MATRIX.keys),
        section(&TABLE, &[], TABLE.keys),
        section(&FIGURE, &[], FIGURE.keys),
        left_out(&section(&PICTURE, &[], PICTURE.keys)),
        section(&HYPOTHESIS, &[], HYPOTHESIS.keys) + &own_keys(),
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
fn left_out(lines: &str) -> String {
    let line = |line: &str| {
        if line.starts_with('#') { format!("{line}\n") } else { format!("# {line}\n") }
    };
    lines.lines().map(line).collect()
}

/// Formats a key. Optional keys are commented out.
fn key(key: &Key) -> String {
    let given = format!("{} = {}", key.name, key.example);
    match key.need {
        Need::Required => line(&given, key.about),
        Need::Optional(usual) => {
            line(&format!("# {given}"), &format!("{} [left out: {usual}]", key.about))
        }
    }
}

/// Formats `left` followed by its description, which starts on the next line if `left` is too wide.
fn line(left: &str, words: &str) -> String {
    let mut left = left.to_owned();
    let mut lines = String::new();
    if left.chars().count() >= WORDS_AT {
        lines = format!("{left}\n");
        left.clear();
    }
    for words in wrapped(words, WIDTH - WORDS_AT) {
        lines += &format!("{left:<WORDS_AT$}# {words}\n");
        left.clear();
    }
    lines
}

/// Formats the keys of the test that the scaffold uses.
fn own_keys() -> String {
    let test = &TESTS[0];
    let keys: String = test.keys.iter().map(key).collect();
    format!("{}{keys}", comment(&format!("Keys of {} alone:", test.name)))
}

/// Lists the available tests.
fn tests() -> String {
    let list = TESTS.iter().map(|test| line(&format!("#   {}", test.name), test.about));
    let about = comment(
        "Tests that a hypothesis can name; the keys of each, its formula and what it supposes are in \
         docs/hypotheses.md:",
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
