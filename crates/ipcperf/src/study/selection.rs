//! Which of the measured cases are meant: factors with the levels that they may have.

use std::collections::{BTreeMap, BTreeSet};

use super::document::Entry;
use super::mistake::Mistakes;
use super::values::unknown;
use crate::plan::parse_sizes;

/// The factor that is the matrix of a case.
const MATRIX: &str = "matrix";

/// The factors by which cases differ, but for options, whose names begin with their mechanism's. The keys of
/// a matrix that are factors have the same names.
pub(crate) const FACTORS: [&str; 13] = [
    MATRIX,
    "mechanism",
    "workload",
    "mode",
    "placement",
    "buffer",
    "kernel_buffer",
    "touch",
    "payload",
    "buffers",
    "first_touch",
    "reply",
    "instrument",
];

/// Cases by their levels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection(BTreeMap<String, BTreeSet<String>>);

/// The factors of a case, each with its level, as [`canonical`] writes it.
pub(crate) type Levels = BTreeMap<String, String>;

impl Selection {
    /// Reads a table of factors; one that is an option lies in a table of its mechanism's name.
    pub(super) fn read(entry: &Entry<'_, '_>, mistakes: &mut Mistakes) -> Option<Self> {
        let Some(table) = entry.table() else {
            let what = format!("it cannot be {}", entry.kind());
            mistakes.add(
                entry.place(),
                what,
                "name cases by their factors: { mechanism = \"pipe\" }",
            );
            return None;
        };
        let mut selected = BTreeMap::new();
        for factor in table.entries(&entry.path) {
            if let Some(options) = factor.table() {
                for option in options.entries(&factor.path) {
                    let name = format!("{}.{}", factor.name, option.name);
                    selected.extend(levels(&name, &option, mistakes).map(|levels| (name, levels)));
                }
            } else if FACTORS.contains(&factor.name) {
                let name = factor.name.to_owned();
                selected.extend(levels(&name, &factor, mistakes).map(|levels| (name, levels)));
            } else {
                unknown(&factor, FACTORS.into_iter(), mistakes);
            }
        }
        Some(Self(selected))
    }

    /// Whether a case with `levels`, of `matrices`, is meant: of a factor that it does not have, only
    /// `default` is.
    pub(crate) fn holds(&self, levels: &Levels, matrices: &[String]) -> bool {
        self.0.iter().all(|(factor, meant)| match levels.get(factor) {
            _ if factor == MATRIX => matrices.iter().any(|matrix| meant.contains(matrix)),
            Some(level) => meant.contains(level),
            None => meant.contains("default"),
        })
    }

    /// The levels of `factor` that are meant, where it says anything of it.
    pub(crate) fn of(&self, factor: &str) -> Option<&BTreeSet<String>> {
        self.0.get(factor)
    }

    /// Whether it says anything of `factor`.
    pub(crate) fn has(&self, factor: &str) -> bool {
        self.0.contains_key(factor)
    }

    /// Whether it names `level` of `factor`.
    pub(crate) fn names(&self, factor: &str, level: &str) -> bool {
        self.0.get(factor).is_some_and(|meant| meant.contains(level))
    }

    /// Whether cases with `level` of `factor` may be meant.
    pub(crate) fn allows(&self, factor: &str, level: &str) -> bool {
        !self.has(factor) || self.names(factor, level)
    }

    /// What both mean.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let mut both = self.clone();
        for (factor, levels) in &other.0 {
            let entry = both.0.entry(factor.clone()).or_insert_with(|| levels.clone());
            *entry = entry.intersection(levels).cloned().collect();
        }
        both
    }

    /// Each factor with the levels that are meant.
    pub(crate) fn factors(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        self.0.iter().map(|(factor, levels)| (factor.as_str(), levels))
    }

    /// In words: `mechanism pipe, kernel_buffer match`.
    pub(crate) fn words(&self) -> String {
        let words = self.0.iter().map(|(factor, levels)| {
            let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
            if factor == "mechanism" {
                levels.join("|")
            } else {
                format!("{factor} {}", levels.join("|"))
            }
        });
        words.collect::<Vec<_>>().join(", ")
    }
}

/// The levels that an entry names.
fn levels(
    factor: &str,
    entry: &Entry<'_, '_>,
    mistakes: &mut Mistakes,
) -> Option<BTreeSet<String>> {
    let words: Option<Vec<String>> = entry.items().iter().map(Entry::text).collect();
    let Some(words) = words.filter(|words| !words.is_empty()) else {
        let what = format!("it cannot be {}", entry.kind());
        mistakes.add(entry.place(), what, "give it a level, or a list of levels");
        return None;
    };
    Some(
        words
            .iter()
            .flat_map(|words| words.split(','))
            .flat_map(|word| canonical(factor, word))
            .collect(),
    )
}

/// The levels that `word` names, in the one way they are compared: sizes as plain bytes, ranges as what is in
/// them.
pub(crate) fn canonical(factor: &str, word: &str) -> Vec<String> {
    let word = word.trim();
    let is_size = matches!(factor, "buffer" | "kernel_buffer" | "reply") || factor.contains('.');
    match parse_sizes(word) {
        Ok(sizes) if is_size => sizes.iter().map(u64::to_string).collect(),
        _ => vec![word.to_owned()],
    }
}
