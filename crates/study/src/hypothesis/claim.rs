//! A claim as the study has it.

use crate::selection::is_size;
use std::collections::BTreeSet;

use ipcperf_model::suggestion::nearest;

use super::case_data::EVENTS;
use super::outcome::Correction;
use super::{TESTS, Test};
use crate::sections::{CORRECTION, LEVEL, NEED, OVER};
use crate::{BESIDE, Entry, Key, KnownLevels, Metric, Mistakes, Selection, Table, Values};

/// One hypothesis of a study.
#[derive(Clone)]
pub struct Claim {
    /// Names it.
    pub id: String,
    /// As a sentence.
    pub claim: String,
    /// The test that it names.
    pub test: &'static Test,
    /// What its keys were given.
    pub values: Values,
    /// What the document's own judgement has otherwise.
    beside: Option<Values>,
}

impl std::fmt::Debug for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} ({})", self.id, self.claim, self.test.name)
    }
}

/// Keys that mean cases.
const CASES: [&str; 7] = ["where", "first", "second", "whole", "part", "than", "beyond"];

impl Claim {
    /// Reads one hypothesis: which keys it may have is for its test to say.
    pub fn read(
        table: (Table<'_, '_>, &str),
        common: &'static [Key],
        mistakes: &mut Mistakes,
    ) -> Option<Self> {
        let named = table.0.entries(table.1).find(|entry| entry.name == "test");
        let test = named.as_ref().and_then(|entry| test(entry, mistakes));
        let keys = test.map_or(&[][..], |test| test.keys);
        let mut beside = None;
        let others = |entry: &Entry<'_, '_>, mistakes: &mut Mistakes| {
            if let Some(table) = entry.table().filter(|_| entry.name == "beside") {
                let keys = [BESIDE, keys];
                beside =
                    Some(Values::read_some((table, &entry.path), &keys, mistakes, |entry, _| {
                        test.is_none() && TESTS.iter().any(|one| one.has(entry.name))
                    }));
                return true;
            }
            is_of_another(test, entry, mistakes)
        };
        let values = Values::read(table, &[common, keys], mistakes, others);
        Some(Self {
            id: values.text("id")?.to_owned(),
            claim: values.text("claim")?.to_owned(),
            test: test?,
            values,
            beside,
        })
    }

    /// The line of the file in which it begins.
    pub fn line(&self) -> usize {
        self.values.line
    }

    /// The number given to `key`, or its default; 0 where it has none.
    pub(super) fn number(&self, key: &Key) -> f64 {
        let given = self.values.number(key.name);
        given.or_else(|| key.default()?.parse().ok()).unwrap_or_default()
    }

    /// The whole number given to `key`, or its default; 0 where it has none.
    pub(super) fn whole(&self, key: &Key) -> u64 {
        let given = self.values.whole(key.name);
        given.or_else(|| key.default()?.parse().ok()).unwrap_or_default()
    }

    /// The word given to `key`, or its default; empty where it has none.
    pub(super) fn word(&self, key: &Key) -> &'static str {
        self.values.word(key.name).or_else(|| key.default()).unwrap_or_default()
    }

    /// What is compared.
    pub fn metric(&self) -> Metric {
        self.values.metric("metric").cloned().unwrap_or(Metric::MAIN)
    }

    /// What the document found, in its words.
    pub fn published(&self) -> Option<&str> {
        self.values.text("published")
    }

    /// The number that the figure of its p-values has in the document, where there is one.
    pub fn figure(&self) -> Option<&str> {
        self.values.text("figure")
    }

    /// The factor along which lines run.
    pub fn over(&self) -> &str {
        self.values.text(OVER.name).or_else(|| OVER.default()).unwrap_or_default()
    }

    /// Unit of the levels along which lines run: that of sizes, or none.
    pub fn over_unit(&self) -> &'static str {
        if is_size(self.over()) { "bytes" } else { "" }
    }

    /// The level of the test.
    pub fn level(&self) -> f64 {
        self.number(&LEVEL)
    }

    /// The same claim, judged at another level.
    pub(super) fn at_level(&self, level: f64) -> Self {
        Self { values: self.values.with_number("level", level), ..self.clone() }
    }

    /// The share of its parts that must hold.
    pub fn need(&self) -> f64 {
        self.number(&NEED)
    }

    /// Whether all of its parts must hold: then chance would have to deceive at each of them.
    pub fn needs_all(&self) -> bool {
        self.need() >= 1.0
    }

    /// How several p-values are corrected.
    pub fn correction(&self) -> Correction {
        match self.word(&CORRECTION) {
            "none" => Correction::None,
            "benjamini-hochberg" => Correction::BenjaminiHochberg,
            _ => Correction::Holm,
        }
    }

    /// The cases that are meant by `where` and by `key`.
    pub fn cases(&self, key: &str) -> Selection {
        let of = |key: &str| self.values.cases(key).cloned().unwrap_or_default();
        of("where").and(&of(key))
    }

    /// The factors of which `first` and `second` name other levels: those in which two lines may differ.
    pub fn compared(&self) -> BTreeSet<String> {
        let [first, second] = ["first", "second"].map(|key| self.values.cases(key));
        let (Some(first), Some(second)) = (first, second) else { return BTreeSet::new() };
        let named = first.factors().chain(second.factors()).map(|(factor, _)| factor);
        let compared = named.filter(|factor| first.of(factor) != second.of(factor));
        // By which events runs are counted is a matter of their matrix.
        compared.chain([EVENTS]).map(str::to_owned).collect()
    }

    /// Whether cases of the matrix `name` may be among its own.
    pub fn is_about(&self, name: &str) -> bool {
        let sides: Vec<&Selection> =
            CASES.iter().filter_map(|key| self.values.cases(key)).collect();
        let named: Vec<&Selection> = sides.into_iter().filter(|side| side.has("matrix")).collect();
        named.is_empty() || named.iter().any(|side| side.allows("matrix", name))
    }

    /// As the document judged it, where the study says how.
    pub fn beside(&self) -> Option<Self> {
        let beside = self.beside.as_ref()?;
        Some(Self { values: self.values.with(beside), beside: None, ..self.clone() })
    }

    /// Tells levels that no matrix has: nothing would be selected.
    pub fn check(&self, known: &KnownLevels<'_>, mistakes: &mut Mistakes) {
        check_cases(&self.values, &CASES, known, mistakes);
    }
}

/// Unknown levels of a factor that are reported.
const MOST_UNKNOWN: usize = 10;
/// Levels of a factor among which the nearest is looked for.
const MOST_COMPARED: usize = 100;

/// Tells levels that the cases of `keys` name and no matrix has.
pub fn check_cases(
    values: &Values,
    keys: &[&str],
    known: &KnownLevels<'_>,
    mistakes: &mut Mistakes,
) {
    for key in keys {
        let Some(selection) = values.cases(key) else { continue };
        let (line, path) = values.place_of(key);
        for (factor, levels) in selection.factors() {
            let (line, path) =
                (selection.line_of(factor).unwrap_or(line), format!("{path}.{factor}"));
            let Some(known) = known.of_factor(factor) else {
                let what = format!("no matrix has the factor {factor}");
                mistakes.add((line, &path), what, "add it to a matrix, or leave it out here");
                continue;
            };
            let unknown = levels.iter().filter(|level| !known.contains(level.as_str()));
            for level in unknown.take(MOST_UNKNOWN) {
                // Of long lists nobody means a neighbor, and looking for it would take long.
                let few = Some(known).filter(|known| known.len() <= MOST_COMPARED);
                let near = few.and_then(|known| nearest(level, known.iter().copied()));
                let remedy = near.map_or_else(
                    || {
                        format!(
                            "its levels are {}",
                            known
                                .iter()
                                .copied()
                                .take(MOST_COMPARED)
                                .collect::<Vec<_>>()
                                .join(", ")
                        )
                    },
                    |near| format!("did you mean `{near}`?"),
                );
                mistakes.add((line, &path), format!("no matrix has {factor} {level}"), remedy);
            }
        }
    }
}

/// Whether `entry` is a key that `test` does not have, but others do; where `test` is not known it may be
/// right.
fn is_of_another(test: Option<&Test>, entry: &Entry<'_, '_>, mistakes: &mut Mistakes) -> bool {
    let having = TESTS.iter().filter(|one| one.has(entry.name)).map(|one| one.name);
    let having: Vec<&str> = having.collect();
    if let Some(test) = test.filter(|_| !having.is_empty()) {
        let what = format!("{} has no such key", test.name);
        let remedy = format!("leave it out, or name a test that has it: {}", having.join(", "));
        mistakes.add(entry.place(), what, remedy);
    }
    !having.is_empty()
}

/// The test that `entry` names.
fn test(entry: &Entry<'_, '_>, mistakes: &mut Mistakes) -> Option<&'static Test> {
    let name = entry.text().filter(|_| entry.kind() == "text")?;
    let found = TESTS.iter().find(|test| test.name == name).copied();
    if found.is_none() {
        let names = TESTS.iter().map(|test| test.name);
        let remedy = match nearest(&name, names.clone()) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("known are {}", names.collect::<Vec<_>>().join(", ")),
        };
        mistakes.add(entry.place(), format!("there is no test `{name}`"), remedy);
    }
    found
}
