//! Metrics computed from the observations of an instrument.

use std::collections::BTreeMap;

use ipcperf_model::suggestion::suggestion;
use ipcperf_results::{ObservationRecord, Sample};

use super::better::{Better, float};
use super::document::Entry;
use super::mistake::Mistakes;
use super::unknown_key::unknown_key;

/// A metric of an instrument: the sum of a field over selected rows, divided by `per`.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservationMetric {
    /// Name of the instrument.
    pub instrument: String,
    /// Conditions on the rows: `role`, and fields of the instrument.
    rows: BTreeMap<String, String>,
    field: String,
    per: Divisor,
    pub(super) unit: String,
    pub(super) better: Better,
    /// Label given by the study.
    label: Option<String>,
}

/// Divisor of a sum.
#[derive(Clone, Debug, PartialEq)]
enum Divisor {
    Run,
    Message,
    /// The sum of another field over the same rows.
    Field(String),
}

/// Keys of the table that are not conditions on the rows.
const RESERVED_KEYS: [&str; 6] = ["instrument", "field", "per", "unit", "better", "called"];

impl ObservationMetric {
    /// Reads a table that selects numbers of an instrument.
    pub(super) fn read(entry: &Entry<'_, '_>, mistakes: &mut Mistakes) -> Option<Self> {
        let given = entry.table()?;
        let mut plain = BTreeMap::new();
        for key in given.entries(&entry.path) {
            match key.text() {
                Some(text) => drop(plain.insert(key.name.to_owned(), text)),
                None => unknown_key(&key, RESERVED_KEYS.into_iter(), mistakes),
            }
        }
        let mut needed = |key: &str, example: &str| {
            let found = plain.remove(key);
            if found.is_none() {
                let remedy = format!("write {key} = \"{example}\"");
                mistakes.add(entry.location(), format!("the key {key} is missing"), remedy);
            }
            found
        };
        let (instrument, field) =
            (needed("instrument", "syscalls"), needed("field", "returned_bytes"));
        let (instrument, field) = (instrument?, field?);
        if ipcperf_model::instrument::find(&instrument).is_none() {
            let names = ipcperf_model::instrument::INSTRUMENTS.iter().map(|known| known.name);
            let remedy = suggestion(&instrument, names);
            mistakes.add(entry.location(), format!("unknown instrument `{instrument}`"), remedy);
            return None;
        }
        let per = match plain.remove("per").as_deref() {
            None | Some("run") => Divisor::Run,
            Some("message") => Divisor::Message,
            Some(field) => Divisor::Field(field.to_owned()),
        };
        let better = match plain.remove("better").as_deref() {
            None | Some("lower") => Better::Lower,
            Some("higher") => Better::Higher,
            Some(other) => {
                mistakes.add(
                    entry.location(),
                    format!("invalid value `{other}` of better"),
                    "write higher or lower",
                );
                return None;
            }
        };
        let unit = plain.remove("unit").unwrap_or_default();
        let called = plain.remove("called");
        Some(Self { instrument, rows: plain, field, per, unit, better, label: called })
    }

    /// Returns the same metric restricted to the rows that have `fields`.
    pub(super) fn restricted_to(&self, fields: &BTreeMap<String, String>) -> Self {
        let mut narrowed = self.clone();
        narrowed.rows.extend(fields.clone());
        narrowed
    }

    /// Returns the value for a run, or `None` if no row matches or the divisor is not positive.
    pub(super) fn value(&self, sample: &Sample, seen: &[&ObservationRecord]) -> Option<f64> {
        let rows = || seen.iter().filter(|row| self.matches(row));
        let sum = |field: &str| {
            let values = rows().filter_map(|row| number_at(row, field));
            values.reduce(|sum, value| sum + value)
        };
        let whole = sum(&self.field)?;
        let divisor = match &self.per {
            Divisor::Run => 1.0,
            Divisor::Message => float(sample.messages),
            Divisor::Field(field) => sum(field)?,
        };
        (divisor > 0.0).then(|| whole / divisor)
    }

    fn matches(&self, row: &ObservationRecord) -> bool {
        let has = |key: &str, word: &str| match row.fields.get(key) {
            Some(serde_json::Value::String(text)) => word.split('|').any(|one| one == text),
            Some(value) => {
                let text = value.to_string();
                text == word
            }
            None => false,
        };
        let is_role = |word: &str| {
            row.role.as_deref().is_some_and(|role| word.split('|').any(|one| one == role))
        };
        row.instrument == self.instrument
            && self
                .rows
                .iter()
                .all(|(key, word)| if key == "role" { is_role(word) } else { has(key, word) })
    }

    /// Returns the label.
    pub(super) fn label(&self) -> String {
        if let Some(called) = &self.label {
            return called.clone();
        }
        let rows: Vec<&str> = self.rows.values().map(String::as_str).collect();
        let per = match &self.per {
            Divisor::Run => String::new(),
            Divisor::Message => " per message".to_owned(),
            Divisor::Field(field) => format!(" per {field}"),
        };
        format!("{} {} {}{per}", self.instrument, rows.join(" "), self.field)
    }
}

/// Returns the number at `path` in a row. Dots in the path separate the names of nested fields.
fn number_at(row: &ObservationRecord, path: &str) -> Option<f64> {
    let mut names = path.split('.');
    let first = row.fields.get(names.next()?)?;
    names.try_fold(first, |value, name| value.get(name))?.as_f64()
}
