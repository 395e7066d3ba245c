//! Selections of cases by the levels of their factors.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ipcperf_model::message_sizes::MessageSizes;
use ipcperf_model::rate;
use ipcperf_model::size::parse_list as parse_sizes;

use super::document::Entry;
use super::mistake::Mistakes;
use super::unknown_key::unknown_key;
use ipcperf_plan::{Factor, custom_relative_to, has_sizes, normalized_custom};

/// The factor whose level is the name of a case's matrix.
const MATRIX: &str = "matrix";
/// The factor whose levels may be files.
const MECHANISM: &str = Factor::Mechanism.key();

/// The factors by which cases differ. Options are also factors; their names begin with the mechanism. Matrix keys that
/// are factors have the same names.
pub const FACTORS: [&str; 20] = [
    MATRIX,
    MECHANISM,
    Factor::Workload.key(),
    Factor::Mode.key(),
    Factor::Placement.key(),
    Factor::Buffer.key(),
    Factor::KernelBuffer.key(),
    Factor::Messages.key(),
    Factor::Touch.key(),
    Factor::Payload.key(),
    Factor::Buffers.key(),
    Factor::FirstTouch.key(),
    Factor::Reply.key(),
    Factor::Peers.key(),
    Factor::SenderPrefix.key(),
    Factor::ReceiverPrefix.key(),
    Factor::Rate.key(),
    Factor::Arrivals.key(),
    Factor::Pacer.key(),
    Factor::Instrument.key(),
];

/// The factors other than options whose levels are byte counts.
const SIZE_FACTORS: [&str; 3] =
    [Factor::Buffer.key(), Factor::KernelBuffer.key(), Factor::Reply.key()];

/// Whether the levels of `factor` are byte counts: sizes of messages and buffers, and options that set a size.
pub fn is_size(factor: &str) -> bool {
    match factor.split_once('.') {
        None => SIZE_FACTORS.contains(&factor),
        Some((mechanism, option)) => has_sizes(mechanism, option),
    }
}

/// Maximum number of levels of a factor. More are taken for an error.
pub(super) const MAX_LEVELS: usize = 4_096;

/// A selection of cases by their levels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    selected: BTreeMap<String, BTreeSet<String>>,
    /// Line of each factor.
    lines: BTreeMap<String, usize>,
}

/// The factors of a case, each with its level in canonical form: sizes in bytes, paths in their shortest form.
pub type Levels = BTreeMap<String, String>;

impl Selection {
    /// Reads a table of factors. Options are in nested tables named after their mechanisms.
    pub(super) fn read(entry: &Entry<'_, '_>, mistakes: &mut Mistakes) -> Option<Self> {
        let Some(table) = entry.table() else {
            let what = format!("must not be {}", entry.kind());
            mistakes.add(
                entry.location(),
                what,
                "select cases by their factors: { mechanism = \"pipe\" }",
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
            let remedy = "name a factor, or leave it out to select all cases";
            mistakes.add(entry.location(), "it selects no cases", remedy);
        }
        Some(selected)
    }

    fn add(&mut self, factor: String, entry: &Entry<'_, '_>, mistakes: &mut Mistakes) {
        if let Some(levels) = levels(&factor, entry, mistakes) {
            self.lines.insert(factor.clone(), entry.line);
            self.selected.insert(factor, levels);
        }
    }

    /// Returns the selection with absolute paths of custom mechanisms. Relative paths start from `folder`.
    pub fn with_absolute_paths(&self, folder: &Path) -> Self {
        let mut found = self.clone();
        if let Some(levels) = found.selected.get_mut(MECHANISM) {
            let whole =
                |level: &String| custom_relative_to(level, folder).unwrap_or_else(|| level.clone());
            *levels = levels.iter().map(whole).collect();
        }
        found
    }

    /// Returns the line of `factor`, if the selection mentions it.
    pub fn line_of(&self, factor: &str) -> Option<usize> {
        self.lines.get(factor).copied()
    }

    /// Whether the selection contains a case with `levels` in `matrices`. If the case does not have a selected factor,
    /// only the level `default` matches.
    pub fn contains(&self, levels: &Levels, matrices: &[String]) -> bool {
        self.selected.iter().all(|(factor, meant)| match levels.get(factor) {
            _ if factor == MATRIX => matrices.iter().any(|matrix| meant.contains(matrix)),
            Some(level) => meant.contains(level),
            None => meant.contains("default"),
        })
    }

    /// Whether the selection would contain a case with `levels` if it had been measured. A refused case belongs to no
    /// matrix and has no instrument, so these factors are ignored.
    pub fn would_contain(&self, levels: &Levels) -> bool {
        let is_of_runs = |factor: &str| [MATRIX, "instrument", "counter_events"].contains(&factor);
        self.selected.iter().filter(|(factor, _)| !is_of_runs(factor)).all(|(factor, meant)| {
            meant.contains(levels.get(factor).map_or("default", |level| level))
        })
    }

    /// Returns the selected levels of `factor`, if the selection mentions it.
    pub fn levels_of(&self, factor: &str) -> Option<&BTreeSet<String>> {
        self.selected.get(factor)
    }

    /// Whether the selection mentions `factor`.
    pub fn has_factor(&self, factor: &str) -> bool {
        self.selected.contains_key(factor)
    }

    /// Whether the selection names `level` of `factor`.
    pub fn has_level(&self, factor: &str, level: &str) -> bool {
        self.selected.get(factor).is_some_and(|meant| meant.contains(level))
    }

    /// Whether the selection can contain cases with `level` of `factor`.
    pub fn allows(&self, factor: &str, level: &str) -> bool {
        !self.has_factor(factor) || self.has_level(factor, level)
    }

    /// Returns the intersection of both selections.
    pub fn intersection(&self, other: &Self) -> Self {
        let mut both = self.clone();
        for (factor, levels) in &other.selected {
            let entry = both.selected.entry(factor.clone()).or_insert_with(|| levels.clone());
            *entry = entry.intersection(levels).cloned().collect();
        }
        both
    }

    /// Returns each factor with its selected levels.
    pub fn factors(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        self.selected.iter().map(|(factor, levels)| (factor.as_str(), levels))
    }

    /// Describes the selection: `mechanism pipe, kernel_buffer match`.
    pub fn description(&self) -> String {
        let words = self.selected.iter().map(|(factor, levels)| {
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

/// Reads the levels of an entry.
fn levels(
    factor: &str,
    entry: &Entry<'_, '_>,
    mistakes: &mut Mistakes,
) -> Option<BTreeSet<String>> {
    let words: Option<Vec<String>> = entry.items().iter().map(Entry::text).collect();
    let Some(words) = words.filter(|words| !words.is_empty()) else {
        let what = format!("must not be {}", entry.kind());
        mistakes.add(entry.location(), what, "use a level, or a list of levels");
        return None;
    };
    let words = words.iter().flat_map(|words| split_levels(factor, words));
    let levels: Vec<String> =
        words.flat_map(|word| canonical(factor, word)).take(MAX_LEVELS + 1).collect();
    if levels.len() > MAX_LEVELS {
        let what = format!("the selection has more than {MAX_LEVELS} levels");
        mistakes.add(entry.location(), what, "remove levels");
        return None;
    }
    Some(levels.into_iter().collect())
}

/// The factors whose levels are commands, which may contain commas.
pub(crate) const COMMAND_FACTORS: [&str; 2] =
    [Factor::SenderPrefix.key(), Factor::ReceiverPrefix.key()];

/// Returns the levels of `factor` in `text`: a comma-separated list, or one command or mixture of sizes.
pub(crate) fn split_levels<'a>(factor: &str, text: &'a str) -> Vec<&'a str> {
    let is_one = COMMAND_FACTORS.contains(&factor) || factor == Factor::Messages.key();
    if is_one { vec![text] } else { text.split(',').collect() }
}

/// Returns the levels that `word` names in canonical form, in which they can be compared: sizes in bytes, mixtures of sizes
/// in ascending order, ranges expanded, paths of custom mechanisms in their shortest form.
pub(crate) fn canonical(factor: &str, word: &str) -> Vec<String> {
    let word = word.trim();
    if factor == MECHANISM {
        return vec![normalized_custom(word).unwrap_or_else(|| word.to_owned())];
    }
    if factor == Factor::Messages.key() {
        let mixture = word.parse::<MessageSizes>();
        return vec![mixture.map_or_else(|_| word.to_owned(), |sizes| sizes.to_string())];
    }
    if factor == Factor::Rate.key() {
        let rates = rate::parse_items(&[word]).unwrap_or_default();
        let written = || vec![word.to_owned()];
        return if rates.is_empty() {
            written()
        } else {
            rates.iter().map(u64::to_string).collect()
        };
    }
    // Any option may take sizes: only a custom mechanism itself knows those of its own.
    let may_be_size = SIZE_FACTORS.contains(&factor) || factor.contains('.');
    match parse_sizes(word) {
        Ok(sizes) if may_be_size => sizes.iter().map(u64::to_string).collect(),
        _ => vec![word.to_owned()],
    }
}
