//! Claims of a study.

use std::collections::BTreeSet;

use ipcperf_model::suggestion::nearest;

use super::case_data::EVENTS;
use super::outcome::Correction;
use super::{TESTS, Test};
use crate::sections::{CORRECTION, LEVEL, NEED, OVER};
use crate::selection::is_size;
use crate::{BESIDE, Entry, Key, KnownLevels, Metric, Mistakes, Selection, Table, Values};

/// A hypothesis of a study.
#[derive(Clone)]
pub struct Claim {
    /// Identifier.
    pub id: String,
    /// The claim, as a sentence.
    pub claim: String,
    /// The test that judges it.
    pub test: &'static Test,
    /// Values of its keys.
    pub values: Values,
    /// Values with which the publication's own judgement differs.
    beside: Option<Values>,
}

impl std::fmt::Debug for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} ({})", self.id, self.claim, self.test.name)
    }
}

/// Keys whose value is a selection of cases.
const CASES: [&str; 7] = ["where", "first", "second", "whole", "part", "than", "beyond"];

impl Claim {
    /// Reads a hypothesis. Its test determines which keys it may have.
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

    /// Returns the line in which it begins.
    pub fn line(&self) -> usize {
        self.values.line
    }

    /// Returns the number of `key`, its default, or 0 if it has none.
    pub(super) fn number(&self, key: &Key) -> f64 {
        let given = self.values.number(key.name);
        given.or_else(|| key.default()?.parse().ok()).unwrap_or_default()
    }

    /// Returns the integer of `key`, its default, or 0 if it has none.
    pub(super) fn whole(&self, key: &Key) -> u64 {
        let given = self.values.whole(key.name);
        given.or_else(|| key.default()?.parse().ok()).unwrap_or_default()
    }

    /// Returns the word of `key`, its default, or an empty string if it has none.
    pub(super) fn word(&self, key: &Key) -> &'static str {
        self.values.word(key.name).or_else(|| key.default()).unwrap_or_default()
    }

    /// Returns the metric that is compared.
    pub fn metric(&self) -> Metric {
        self.values.metric("metric").cloned().unwrap_or(Metric::MAIN)
    }

    /// Returns the result of the publication, verbatim.
    pub fn published(&self) -> Option<&str> {
        self.values.text("published")
    }

    /// Returns the number of the p-value figure in the publication, if there is one.
    pub fn figure(&self) -> Option<&str> {
        self.values.text("figure")
    }

    /// Returns the factor along which lines run.
    pub fn over(&self) -> &str {
        self.values.text(OVER.name).or_else(|| OVER.default()).unwrap_or_default()
    }

    /// Returns the unit of that factor: bytes for sizes, otherwise empty.
    pub fn over_unit(&self) -> &'static str {
        if is_size(self.over()) { "bytes" } else { "" }
    }

    /// Returns the significance level of the test.
    pub fn level(&self) -> f64 {
        self.number(&LEVEL)
    }

    /// Returns the same claim with another significance level.
    pub(super) fn at_level(&self, level: f64) -> Self {
        Self { values: self.values.with_number("level", level), ..self.clone() }
    }

    /// Returns the minimum share of its parts that must hold.
    pub(super) fn need(&self) -> f64 {
        self.number(&NEED)
    }

    /// Whether all of its parts must hold. Then no correction is needed: chance would have to cause a false positive in
    /// every part.
    pub fn needs_all(&self) -> bool {
        self.need() >= 1.0
    }

    /// Returns the correction of its p-values.
    pub fn correction(&self) -> Correction {
        match self.word(&CORRECTION) {
            "none" => Correction::None,
            "benjamini-hochberg" => Correction::BenjaminiHochberg,
            _ => Correction::Holm,
        }
    }

    /// Returns the cases selected by both `where` and `key`.
    pub fn cases(&self, key: &str) -> Selection {
        let of = |key: &str| self.values.cases(key).cloned().unwrap_or_default();
        of("where").and(&of(key))
    }

    /// Returns the factors whose levels differ between `first` and `second`. Two compared lines may differ only in
    /// these.
    pub(super) fn compared(&self) -> BTreeSet<String> {
        let [first, second] = ["first", "second"].map(|key| self.values.cases(key));
        let (Some(first), Some(second)) = (first, second) else { return BTreeSet::new() };
        let named = first.factors().chain(second.factors()).map(|(factor, _)| factor);
        let compared = named.filter(|factor| first.of(factor) != second.of(factor));
        // The events that are counted depend on the matrix, so lines may differ in them.
        compared.chain([EVENTS]).map(str::to_owned).collect()
    }

    /// Whether its cases can include some of the matrix `name`.
    pub(crate) fn is_about(&self, name: &str) -> bool {
        let sides: Vec<&Selection> =
            CASES.iter().filter_map(|key| self.values.cases(key)).collect();
        let named: Vec<&Selection> = sides.into_iter().filter(|side| side.has("matrix")).collect();
        named.is_empty() || named.iter().any(|side| side.allows("matrix", name))
    }

    /// Returns the claim as the publication judged it, if the study specifies that.
    pub fn beside(&self) -> Option<Self> {
        let beside = self.beside.as_ref()?;
        Some(Self { values: self.values.with(beside), beside: None, ..self.clone() })
    }

    /// Reports levels that no matrix has and that would select nothing.
    pub fn check(&self, known: &KnownLevels<'_>, mistakes: &mut Mistakes) {
        check_cases(&self.values, &CASES, known, mistakes);
    }
}

/// Maximum number of unknown levels reported for a factor.
const MOST_UNKNOWN: usize = 10;
/// Maximum number of levels searched for the nearest match.
const MOST_COMPARED: usize = 100;

/// Reports levels in the selections of `keys` that no matrix has.
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
                // A suggestion from a long list is rarely right and takes long to find.
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

/// Whether `entry` is a key of some other test. Reports it if `test` is known; otherwise the key may be valid.
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

/// Returns the test that `entry` names.
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
