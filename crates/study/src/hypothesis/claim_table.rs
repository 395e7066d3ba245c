//! The `[[hypothesis]]` sections of a study file, checked key by key.

use ipcperf_model::suggestion::nearest;

use super::{TESTS, Test};
use crate::section_keys::HYPOTHESIS;
use crate::{Entry, Key, KnownLevels, Mistakes, ORIGINAL_TEST_KEYS, Table, ValueType, Values};

/// A `[[hypothesis]]` section whose test is known.
pub(crate) struct ClaimTable {
    /// Identifier.
    pub(crate) id: String,
    /// The claim, as a sentence.
    pub(crate) claim: String,
    /// The test that judges it.
    pub(crate) test: &'static Test,
    /// Values of its keys, as given.
    pub(crate) values: Values,
    /// Values with which the publication's own judgement differs.
    pub(super) original_test: Option<Values>,
}

impl ClaimTable {
    /// Reads a hypothesis. Its test determines which keys it may have.
    pub(crate) fn read(table: (Table<'_, '_>, &str), mistakes: &mut Mistakes) -> Option<Self> {
        let test_entry = table.0.entries(table.1).find(|entry| entry.name == "test");
        let test = test_entry.as_ref().and_then(|entry| find_test(entry, mistakes));
        let keys = test.map_or(&[][..], |test| test.keys);
        let mut original_test = None;
        let read_other_key = |entry: &Entry<'_, '_>, mistakes: &mut Mistakes| {
            if let Some(table) = entry.table().filter(|_| entry.name == "original_test") {
                let keys = [ORIGINAL_TEST_KEYS, keys];
                original_test = Some(Values::read_partial(
                    (table, &entry.path),
                    &keys,
                    mistakes,
                    |entry, _| test.is_none() && TESTS.iter().any(|one| one.has_key(entry.name)),
                ));
                return true;
            }
            report_foreign_key(test, entry, mistakes)
        };
        let values = Values::read(table, &[HYPOTHESIS.keys, keys], mistakes, read_other_key);
        Some(Self {
            id: values.text("id")?.to_owned(),
            claim: values.text("claim")?.to_owned(),
            test: test?,
            values,
            original_test,
        })
    }

    /// Returns the line in which it begins.
    pub(crate) const fn line(&self) -> usize {
        self.values.line
    }

    /// Returns the names of the keys that accept values of the kind that `is_accepted` recognizes.
    pub(crate) fn keys_accepting(&self, is_accepted: fn(ValueType) -> bool) -> Vec<&'static str> {
        let keys = HYPOTHESIS.keys.iter().chain(self.test.keys);
        keys.filter(|key| is_accepted(key.value_type)).map(|key: &Key| key.name).collect()
    }

    /// Reports levels that no matrix has and that would select nothing.
    pub(crate) fn check(&self, known: &KnownLevels<'_>, mistakes: &mut Mistakes) {
        let keys = self.keys_accepting(|takes| matches!(takes, ValueType::Cases));
        check_cases(&self.values, &keys, known, mistakes);
    }
}

/// Maximum number of unknown levels reported for a factor.
const MAX_UNKNOWN: usize = 10;
/// Maximum number of levels searched for the nearest match.
const MAX_COMPARED: usize = 100;

/// Reports levels in the selections of `keys` that no matrix has.
pub fn check_cases(
    values: &Values,
    keys: &[&str],
    known: &KnownLevels<'_>,
    mistakes: &mut Mistakes,
) {
    for key in keys {
        let Some(selection) = values.cases(key) else { continue };
        let (line, path) = values.location_of(key);
        for (factor, levels) in selection.factors() {
            let (line, path) =
                (selection.line_of(factor).unwrap_or(line), format!("{path}.{factor}"));
            let Some(known) = known.get(factor) else {
                let what = format!("no matrix has the factor {factor}");
                mistakes.add(
                    (line, &path),
                    what,
                    "add the factor to a matrix, or leave it out here",
                );
                continue;
            };
            let unknown = levels.iter().filter(|level| !known.contains(level.as_str()));
            for level in unknown.take(MAX_UNKNOWN) {
                // A suggestion from a long list is rarely right and takes long to find.
                let few = Some(known).filter(|known| known.len() <= MAX_COMPARED);
                let near = few.and_then(|known| nearest(level, known.iter().copied()));
                let remedy = near.map_or_else(
                    || {
                        format!(
                            "the levels are {}",
                            known.iter().copied().take(MAX_COMPARED).collect::<Vec<_>>().join(", ")
                        )
                    },
                    |near| format!("did you mean `{near}`?"),
                );
                mistakes.add((line, &path), format!("no matrix has {factor} = {level}"), remedy);
            }
        }
    }
}

/// Whether `entry` is a key of some other test. Reports it if `test` is known; otherwise the key may be valid.
fn report_foreign_key(test: Option<&Test>, entry: &Entry<'_, '_>, mistakes: &mut Mistakes) -> bool {
    let owners = TESTS.iter().filter(|one| one.has_key(entry.name)).map(|one| one.name);
    let owners: Vec<&str> = owners.collect();
    if let Some(test) = test.filter(|_| !owners.is_empty()) {
        let what = format!("the test {} has no key of this name", test.name);
        let remedy = format!("leave the key out, or use a test that has it: {}", owners.join(", "));
        mistakes.add(entry.location(), what, remedy);
    }
    !owners.is_empty()
}

/// Returns the test that `entry` names.
fn find_test(entry: &Entry<'_, '_>, mistakes: &mut Mistakes) -> Option<&'static Test> {
    let name = entry.text().filter(|_| entry.kind() == "text")?;
    let found = TESTS.iter().find(|test| test.name == name).copied();
    if found.is_none() {
        let names = TESTS.iter().map(|test| test.name);
        let remedy = match nearest(&name, names.clone()) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("expected one of {}", names.collect::<Vec<_>>().join(", ")),
        };
        mistakes.add(entry.location(), format!("unknown test `{name}`"), remedy);
    }
    found
}
