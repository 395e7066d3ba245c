//! A table of a study file, checked against the keys that it may have.

use std::collections::BTreeMap;

use ipcperf_model::duration::parse_duration;
use ipcperf_model::size::parse as parse_size;
use ipcperf_model::suggestion::nearest;

use super::MAX_TABLES;
use super::document::{Entry, Table};
use super::key::{Key, Requirement, ValueType};
use super::metric::Metric;
use super::mistake::Mistakes;
use super::selection::Selection;
use super::unknown_key::unknown_key;

/// Value of a key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    /// Levels as written; a range is one string.
    Levels(Vec<String>),
    Integer(u64),
    Number(f64),
    Choice(&'static str),
    Bytes(u64),
    Cases(Selection),
    Metric(Metric),
    Metrics(Vec<Metric>),
    Choices(Vec<&'static str>),
    Fields(BTreeMap<String, String>),
    Table(Values),
    Tables(Vec<Values>),
}

/// Values of the keys of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// Line of the table.
    pub line: usize,
    /// Path of keys that leads to the table.
    pub path: String,
    entries: BTreeMap<&'static str, GivenValue>,
}

#[derive(Clone, Debug, PartialEq)]
struct GivenValue {
    line: usize,
    value: Value,
}

impl Values {
    /// Reads `table`, which may have `keys` and must have the required ones. Calls `others` for any other key; it
    /// returns whether it handled the key.
    pub fn read(
        (table, path): (Table<'_, '_>, &str),
        keys: &[&'static [Key]],
        mistakes: &mut Mistakes,
        others: impl FnMut(&Entry<'_, '_>, &mut Mistakes) -> bool,
    ) -> Self {
        let values = Self::read_partial((table, path), keys, mistakes, others);
        let is_there = |key: &Key| table.entries("").any(|entry| entry.name == key.name);
        let all = keys.iter().copied().flatten();
        let names = || keys.iter().copied().flatten().map(|key| key.name);
        // A misspelled required key is reported as unknown, not as missing.
        let is_meant = |key: &Key| {
            let unknown = |entry: &Entry<'_, '_>| names().all(|name| name != entry.name);
            let mut near = table.entries("").filter(unknown);
            near.any(|entry| nearest(entry.name, names()) == Some(key.name))
        };
        let missing = |key: &&Key| !is_there(key) && !is_meant(key);
        let is_required = |key: &&Key| match key.requirement {
            Requirement::Required => true,
            Requirement::Unless(other) => !table.entries("").any(|entry| entry.name == other),
            Requirement::Optional(_) => false,
        };
        for key in all.filter(is_required).filter(missing) {
            let place = values.location_of(key.name);
            let remedy = format!(
                "set it to {}: {} = {}",
                key.value_type.description(),
                key.name,
                key.example
            );
            mistakes.add((place.0, &place.1), "the key is missing", remedy);
        }
        values
    }

    /// Reads a table as [`Self::read`] does, without requiring any key.
    pub fn read_partial(
        (table, path): (Table<'_, '_>, &str),
        keys: &[&'static [Key]],
        mistakes: &mut Mistakes,
        mut others: impl FnMut(&Entry<'_, '_>, &mut Mistakes) -> bool,
    ) -> Self {
        let mut values = Self { line: table.line, path: path.to_owned(), entries: BTreeMap::new() };
        let all = || keys.iter().copied().flatten();
        for entry in table.entries(path) {
            let Some(key) =
                all().find(|key| key.name == entry.name && !is_original_test(&entry, key))
            else {
                if !others(&entry, mistakes) {
                    unknown_key(&entry, all().map(|key| key.name), mistakes);
                }
                continue;
            };
            if let Some(value) = read_value(key, &entry, mistakes) {
                values.entries.insert(key.name, GivenValue { line: entry.line, value });
            }
        }
        values
    }

    /// Returns the location of `key`, or of its table if the key is absent.
    pub fn location_of(&self, key: &str) -> (usize, String) {
        let line = self.entries.get(key).map_or(self.line, |given| given.line);
        let path =
            if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        (line, path)
    }

    /// Returns the value of `key`, if it is present and valid.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.entries.get(key).map(|given| &given.value)
    }

    /// Whether `key` is present and valid.
    pub fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Returns the text of `key`.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the levels of `key`.
    pub fn levels(&self, key: &str) -> Option<&[String]> {
        match self.get(key)? {
            Value::Levels(levels) => Some(levels),
            _ => None,
        }
    }

    /// Returns the integer or size of `key`.
    pub fn integer(&self, key: &str) -> Option<u64> {
        match self.get(key)? {
            Value::Integer(number) | Value::Bytes(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the number of `key`.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.get(key)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the word of `key`.
    pub fn choice(&self, key: &str) -> Option<&'static str> {
        match self.get(key)? {
            Value::Choice(word) => Some(word),
            _ => None,
        }
    }

    /// Returns the selection of cases of `key`.
    pub fn cases(&self, key: &str) -> Option<&Selection> {
        match self.get(key)? {
            Value::Cases(selection) => Some(selection),
            _ => None,
        }
    }

    /// Returns the selections of cases of all keys.
    pub(crate) fn selections(&self) -> impl Iterator<Item = &Selection> {
        self.entries.values().filter_map(|given| match &given.value {
            Value::Cases(selection) => Some(selection),
            _ => None,
        })
    }

    /// Returns the metric of `key`.
    pub fn metric(&self, key: &str) -> Option<&Metric> {
        match self.get(key)? {
            Value::Metric(metric) => Some(metric),
            _ => None,
        }
    }

    /// Returns the metrics of `key`.
    pub fn metrics(&self, key: &str) -> Option<&[Metric]> {
        match self.get(key)? {
            Value::Metrics(metrics) => Some(metrics),
            _ => None,
        }
    }

    /// Returns the words of `key`. Empty if absent.
    pub fn choices(&self, key: &str) -> &[&'static str] {
        match self.get(key) {
            Some(Value::Choices(words)) => words,
            _ => &[],
        }
    }

    /// Returns the required field values of `key`. Empty if absent.
    pub fn fields(&self, key: &str) -> BTreeMap<String, String> {
        match self.get(key) {
            Some(Value::Fields(fields)) => fields.clone(),
            _ => BTreeMap::new(),
        }
    }

    /// Returns the tables of the list `key`. Empty if absent.
    pub fn tables(&self, key: &str) -> &[Self] {
        match self.get(key) {
            Some(Value::Tables(tables)) => tables,
            _ => &[],
        }
    }

    /// Returns the table of `key`.
    pub fn table(&self, key: &str) -> Option<&Self> {
        match self.get(key)? {
            Value::Table(values) => Some(values),
            _ => None,
        }
    }

    /// Returns these values, overridden by those of `over`.
    pub fn with_overrides(&self, over: &Self) -> Self {
        let mut both = self.clone();
        both.entries.extend(over.entries.clone());
        both
    }
}

/// Whether `entry` is the table of the publication's judgement, which can only be read once the test is known.
fn is_original_test(entry: &Entry<'_, '_>, key: &Key) -> bool {
    matches!(key.value_type, ValueType::OriginalTest) && entry.table().is_some()
}

/// Reads the value of `key`, or reports a mistake.
fn read_value(key: &Key, entry: &Entry<'_, '_>, mistakes: &mut Mistakes) -> Option<Value> {
    let value = match key.value_type {
        ValueType::Cases => return Selection::read(entry, mistakes).map(Value::Cases),
        ValueType::Metric => return Metric::read(entry, mistakes).map(Value::Metric),
        ValueType::Metrics => {
            let items = entry.items();
            let metrics: Option<Vec<Metric>> =
                items.iter().map(|item| Metric::read(item, mistakes)).collect();
            return metrics.filter(|metrics| !metrics.is_empty()).map(Value::Metrics);
        }
        ValueType::Tables(keys) => {
            let one = |item: &Entry<'_, '_>, mistakes: &mut Mistakes| {
                let table = (item.table()?, item.path.as_str());
                Some(Values::read(table, &[keys], mistakes, |_, _| false))
            };
            let items = entry.items();
            if items.len() > MAX_TABLES {
                let what =
                    format!("the list has {} tables; the maximum is {MAX_TABLES}", items.len());
                mistakes.add(entry.location(), what, "split the list");
                return None;
            }
            let tables: Option<Vec<Values>> =
                items.iter().map(|item| one(item, mistakes)).collect();
            tables.map(Value::Tables)
        }
        ValueType::Table(keys) => {
            let table = entry.table().map(|table| (table, entry.path.as_str()));
            table.map(|table| Value::Table(Values::read(table, &[keys], mistakes, |_, _| false)))
        }
        takes => read_plain(takes, entry),
    };
    if value.is_none() {
        let what = match entry.text() {
            Some(text) => format!("invalid value `{text}`"),
            None => format!("must not be {}", entry.kind()),
        };
        let near = match (key.value_type, entry.text()) {
            (ValueType::Choice(words) | ValueType::Choices(words), Some(text)) => {
                nearest(&text, words.iter().copied())
            }
            _ => None,
        };
        let remedy = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                format!(
                    "set it to {}: {} = {}",
                    key.value_type.description(),
                    key.name,
                    key.example
                )
            }
        };
        mistakes.add(entry.location(), what, remedy);
    }
    value
}

fn read_plain(takes: ValueType, entry: &Entry<'_, '_>) -> Option<Value> {
    let is_text = entry.kind() == "text";
    match takes {
        ValueType::Text => {
            entry.text().filter(|text| is_text && !text.trim().is_empty()).map(Value::Text)
        }
        ValueType::Name => entry.text().filter(|text| is_text && is_name(text)).map(Value::Text),
        ValueType::Levels | ValueType::LevelPair | ValueType::Names => {
            levels(entry).map(Value::Levels)
        }
        ValueType::Integer(least, most) => {
            let number = entry.text().filter(|_| !is_text)?.parse::<u64>().ok()?;
            (least..=most).contains(&number).then_some(Value::Integer(number))
        }
        ValueType::Number(least, most) => {
            entry.number().filter(|number| (least..=most).contains(number)).map(Value::Number)
        }
        ValueType::Duration(least, most) => {
            let seconds = entry.number().or_else(|| parse_duration(&entry.text()?).ok())?;
            (least..=most).contains(&seconds).then_some(Value::Number(seconds))
        }
        ValueType::Choice(words) => {
            let text = entry.text()?;
            words.iter().find(|word| **word == text).map(|word| Value::Choice(word))
        }
        ValueType::Bytes => entry.text().and_then(|text| parse_size(&text).ok()).map(Value::Bytes),
        ValueType::Choices(words) => {
            let given: Option<Vec<String>> = entry.items().iter().map(Entry::text).collect();
            let known = |one: &String| words.iter().find(|word| *word == one).copied();
            let known: Option<Vec<&'static str>> = given?.iter().map(known).collect();
            known.filter(|words| !words.is_empty()).map(Value::Choices)
        }
        ValueType::Fields => {
            let fields = entry.table()?.entries("");
            let fields: Option<BTreeMap<String, String>> =
                fields.map(|field| Some((field.name.to_owned(), field.text()?))).collect();
            fields.filter(|fields| !fields.is_empty()).map(Value::Fields)
        }
        ValueType::Cases
        | ValueType::Metric
        | ValueType::Metrics
        | ValueType::Table(_)
        | ValueType::Tables(_)
        | ValueType::OriginalTest => None,
    }
}

/// Reads one plain value or a list of them.
fn levels(entry: &Entry<'_, '_>) -> Option<Vec<String>> {
    let items = entry.items();
    let levels: Option<Vec<String>> = items.iter().map(Entry::text).collect();
    levels.filter(|levels| !levels.is_empty())
}

fn is_name(text: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    !text.is_empty() && text.len() <= 100 && text.chars().all(fits)
}
