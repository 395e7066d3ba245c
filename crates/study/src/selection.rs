//! Which of the measured cases are meant: factors with the levels that they may have.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ipcperf_model::size::parse_list as parse_sizes;

use super::document::Entry;
use super::mistake::Mistakes;
use super::unknown_key::unknown_key;
use ipcperf_plan::{Factor, custom_in, shortest_custom, takes_sizes};

/// The factor that is the matrix of a case.
const MATRIX: &str = "matrix";
/// The factor that may name files.
const MECHANISM: &str = Factor::Mechanism.key();

/// The factors by which cases differ, but for options, whose names begin with their mechanism's. The keys of
/// a matrix that are factors have the same names.
pub const FACTORS: [&str; 13] = [
    MATRIX,
    MECHANISM,
    Factor::Workload.key(),
    Factor::Mode.key(),
    Factor::Placement.key(),
    Factor::Buffer.key(),
    Factor::KernelBuffer.key(),
    Factor::Touch.key(),
    Factor::Payload.key(),
    Factor::Buffers.key(),
    Factor::FirstTouch.key(),
    Factor::Reply.key(),
    Factor::Instrument.key(),
];

/// Whether levels of `factor` are numbers of bytes: sizes of messages and buffers, and options that set one.
pub(super) fn is_size(factor: &str) -> bool {
    match factor.split_once('.') {
        None => ["buffer", "kernel_buffer", "reply"].contains(&factor),
        Some((mechanism, option)) => takes_sizes(mechanism, option),
    }
}

/// More levels of a factor than this are a slip.
pub(super) const MOST_LEVELS: usize = 4_096;

/// Cases by their levels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    meant: BTreeMap<String, BTreeSet<String>>,
    /// In which line each factor stands.
    lines: BTreeMap<String, usize>,
}

/// The factors of a case, each with its level, as [`canonical`] writes it.
pub type Levels = BTreeMap<String, String>;

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
        let mut selected = Self::default();
        for factor in table.entries(&entry.path) {
            if let Some(options) = factor.table() {
                for option in options.entries(&factor.path) {
                    selected.add(format!("{}.{}", factor.name, option.name), &option, mistakes);
                }
            } else if FACTORS.contains(&factor.name) {
                selected.add(factor.name.to_owned(), &factor, mistakes);
            } else {
                unknown_key(&factor, FACTORS.into_iter(), mistakes);
            }
        }
        if table.entries("").next().is_none() {
            let remedy = "name a factor, or leave it out where all cases are meant";
            mistakes.add(entry.place(), "it names no cases", remedy);
        }
        Some(selected)
    }

    fn add(&mut self, factor: String, entry: &Entry<'_, '_>, mistakes: &mut Mistakes) {
        if let Some(levels) = levels(&factor, entry, mistakes) {
            self.lines.insert(factor.clone(), entry.line);
            self.meant.insert(factor, levels);
        }
    }

    /// The same with the whole paths of custom mechanisms, of which relative ones start from `folder`.
    pub fn found_in(&self, folder: &Path) -> Self {
        let mut found = self.clone();
        if let Some(levels) = found.meant.get_mut(MECHANISM) {
            let whole = |level: &String| custom_in(level, folder).unwrap_or_else(|| level.clone());
            *levels = levels.iter().map(whole).collect();
        }
        found
    }

    /// The line in which `factor` stands, where it does.
    pub fn line_of(&self, factor: &str) -> Option<usize> {
        self.lines.get(factor).copied()
    }

    /// Whether a case with `levels`, of `matrices`, is meant: of a factor that it does not have, only
    /// `default` is.
    pub fn holds(&self, levels: &Levels, matrices: &[String]) -> bool {
        self.meant.iter().all(|(factor, meant)| match levels.get(factor) {
            _ if factor == MATRIX => matrices.iter().any(|matrix| meant.contains(matrix)),
            Some(level) => meant.contains(level),
            None => meant.contains("default"),
        })
    }

    /// Whether a case with `levels` would be meant if it had been measured: what was refused is in no matrix,
    /// and nobody watched it.
    pub fn would_hold(&self, levels: &Levels) -> bool {
        let is_of_runs = |factor: &str| [MATRIX, "instrument", "events"].contains(&factor);
        self.meant.iter().filter(|(factor, _)| !is_of_runs(factor)).all(|(factor, meant)| {
            meant.contains(levels.get(factor).map_or("default", |level| level))
        })
    }

    /// The levels of `factor` that are meant, where it says anything of it.
    pub fn of(&self, factor: &str) -> Option<&BTreeSet<String>> {
        self.meant.get(factor)
    }

    /// Whether it says anything of `factor`.
    pub fn has(&self, factor: &str) -> bool {
        self.meant.contains_key(factor)
    }

    /// Whether it names `level` of `factor`.
    pub fn names(&self, factor: &str, level: &str) -> bool {
        self.meant.get(factor).is_some_and(|meant| meant.contains(level))
    }

    /// Whether cases with `level` of `factor` may be meant.
    pub fn allows(&self, factor: &str, level: &str) -> bool {
        !self.has(factor) || self.names(factor, level)
    }

    /// What both mean.
    pub fn and(&self, other: &Self) -> Self {
        let mut both = self.clone();
        for (factor, levels) in &other.meant {
            let entry = both.meant.entry(factor.clone()).or_insert_with(|| levels.clone());
            *entry = entry.intersection(levels).cloned().collect();
        }
        both
    }

    /// Each factor with the levels that are meant.
    pub fn factors(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        self.meant.iter().map(|(factor, levels)| (factor.as_str(), levels))
    }

    /// In words: `mechanism pipe, kernel_buffer match`.
    pub fn words(&self) -> String {
        let words = self.meant.iter().map(|(factor, levels)| {
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
    let words = words.iter().flat_map(|words| words.split(','));
    let levels: Vec<String> =
        words.flat_map(|word| canonical(factor, word)).take(MOST_LEVELS + 1).collect();
    if levels.len() > MOST_LEVELS {
        let what = format!("it has more than {MOST_LEVELS} levels");
        mistakes.add(entry.place(), what, "give it fewer");
        return None;
    }
    Some(levels.into_iter().collect())
}

/// The levels that `word` names, in the one way they are compared: sizes as plain bytes, ranges as what is in
/// them, custom mechanisms with their paths in the shortest form.
pub fn canonical(factor: &str, word: &str) -> Vec<String> {
    let word = word.trim();
    if factor == MECHANISM {
        return vec![shortest_custom(word).unwrap_or_else(|| word.to_owned())];
    }
    let is_size = matches!(factor, "buffer" | "kernel_buffer" | "reply") || factor.contains('.');
    match parse_sizes(word) {
        Ok(sizes) if is_size => sizes.iter().map(u64::to_string).collect(),
        _ => vec![word.to_owned()],
    }
}
