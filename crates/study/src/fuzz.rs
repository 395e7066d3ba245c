//! Fuzz tests of the reader: no input may make it panic, and every rejected input must give plain one-line messages.

use proptest::prelude::*;

use super::{Length, Study};

const REAL: [&str; 2] = [
    include_str!("../../../studies/pipe-or-socket.toml"),
    include_str!("../../../studies/bell-thomas-2020.toml"),
];

/// Tokens with a meaning somewhere in the format.
const WORDS: [&str; 24] = [
    "[[matrix]]",
    "[[hypothesis]]",
    "[sampling]",
    "quick",
    "original_test",
    "first",
    "second",
    "where",
    "{",
    "}",
    "[",
    "]",
    "=",
    ",",
    "..",
    ".",
    "\"",
    "'''",
    "\n",
    "#",
    "-1",
    "1e999",
    "9223372036854775807",
    "buffer",
];

fn read(text: &str) {
    match Study::parse(text) {
        Ok(study) => {
            for matrix in &study.matrices {
                drop(matrix.request(&study.sampling, Length::Quick));
            }
        }
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            let lines = text.split('\n').count().max(1);
            for mistake in mistakes {
                assert!((1..=lines).contains(&mistake.line), "{mistake}");
                assert!(!mistake.key.is_empty() && !mistake.what.is_empty(), "{mistake:?}");
                assert!(!mistake.remedy.is_empty(), "{mistake:?}");
                assert!(!mistake.to_string().contains(char::is_control), "{mistake:?}");
            }
        }
    }
}

/// Generates a TOML value as it is written.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| format!("{number:?}")),
        any::<bool>().prop_map(|truth| truth.to_string()),
        "[ -~]{0,12}".prop_map(|text| format!("{text:?}")),
        prop::sample::select(vec![
            "\"pipe\"",
            "\"512..1MiB\"",
            "\"1..9*1\"",
            "\"same,split\"",
            "1979-05-27"
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec((key(), inner), 0..4).prop_map(|pairs| {
                let pairs: Vec<String> =
                    pairs.into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
                format!("{{ {} }}", pairs.join(", "))
            }),
        ]
    })
}

/// Generates a known key or an arbitrary one.
fn key() -> impl Strategy<Value = String> {
    let sections = super::SECTIONS.into_iter().flat_map(|section| section.keys);
    let tests = crate::hypothesis::TESTS.iter().flat_map(|test| test.keys);
    let known: Vec<String> = sections.chain(tests).map(|key| key.name.to_owned()).collect();
    prop_oneof![prop::sample::select(known), "[a-z]{1,6}", Just("pipe.capacity".to_owned())]
}

proptest! {
    #[test]
    fn any_table_of_toml_is_read_or_refused(
        pairs in prop::collection::vec((0_usize..4, key(), value()), 0..24),
    ) {
        let headings = ["", "[[matrix]]\n", "[[hypothesis]]\ntest = \"faster-than\"\n", "[sampling]\n"];
        let text: String = pairs
            .iter()
            .map(|(heading, key, value)| format!("{}{key} = {value}\n", headings[*heading]))
            .collect();
        read(&text);
    }

    #[test]
    fn a_value_that_is_another_is_read_or_refused(
        real in 0_usize..2, at in any::<prop::sample::Index>(), value in value(),
    ) {
        let lines: Vec<&str> = REAL[real].lines().collect();
        let at = at.index(lines.len());
        let changed: Vec<String> = lines
            .iter()
            .enumerate()
            .map(|(number, line)| match line.split_once(" = ") {
                Some((key, _)) if number == at => format!("{key} = {value}"),
                _ => (*line).to_owned(),
            })
            .collect();
        read(&changed.join("\n"));
    }

    #[test]
    fn a_torn_or_mixed_file_is_read_or_refused(
        real in 0_usize..2,
        cuts in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(WORDS.to_vec())), 1..6),
    ) {
        let mut text = REAL[real].to_owned();
        for (at, word) in cuts {
            let mut at = at.index(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            text.insert_str(at, word);
        }
        read(&text);
        let half: String = text.chars().take(text.len() / 2).collect();
        read(&half);
    }

    #[test]
    fn any_text_is_refused_in_plain_lines(text in "\\PC{0,200}") {
        read(&text);
    }
}
