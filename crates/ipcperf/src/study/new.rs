//! The file that `study new` makes: every key with what it means, the needed ones filled in.

use super::key::{Key, Need};
use super::sections::{FIGURE, HYPOTHESIS, MATRIX, Repeats, SAMPLING, Section, TABLE, TOP};
use crate::hypothesis::TESTS;

/// Columns of its comments.
const WIDTH: usize = 96;

/// A study that passes its check and can be run as it is, called `name`.
pub(crate) fn scaffold(name: &str) -> String {
    let top = section(&TOP).replace(TOP.keys[0].example, &format!("\"{name}\""));
    let about = comment(
        "A study: what is asked, what is measured to answer it, and what is claimed beforehand. Lines that \
         begin with # say what else there is. Check it: ipcperf study check; how long it takes: ipcperf study \
         plan; run it: ipcperf study run. All of it is explained in docs/writing-a-study.md.",
    );
    let measured = [section(&SAMPLING), section(&MATRIX)];
    let shown = [section(&TABLE), section(&FIGURE)];
    let claimed = [section(&HYPOTHESIS), tests()];
    let parts = [vec![about, top], measured.into(), shown.into(), claimed.into()].concat();
    parts.join("\n")
}

/// A section with all of its keys.
fn section(section: &Section) -> String {
    let heading = match section.repeats {
        _ if section.name.is_empty() => String::new(),
        Repeats::Once => format!("[{}]\n", section.name),
        Repeats::Often => format!("[[{}]]\n", section.name),
    };
    let keys: String = section.keys.iter().map(key).collect();
    format!("{}{heading}{keys}", comment(section.about))
}

fn key(key: &Key) -> String {
    let (mark, usual) = match key.need {
        Need::Required => ("", String::new()),
        Need::Optional(usual) => ("# ", format!(" [left out: {usual}]")),
    };
    format!("{}{mark}{} = {}\n", comment(&format!("{}{usual}", key.about)), key.name, key.example)
}

/// What tests there are, and the keys of the one that stands there.
fn tests() -> String {
    let list = TESTS.iter().map(|test| comment(&format!("{}: {}", test.name, test.about)));
    let first = TESTS.iter().take(1).flat_map(|test| test.keys).map(key);
    format!("{}\n{}{}", first.collect::<String>(), comment("Tests:"), list.collect::<String>())
}

fn comment(words: &str) -> String {
    let lines = textwrap::wrap(words, WIDTH);
    lines.iter().map(|line| format!("# {line}\n")).collect()
}
