//! A study's file as TOML has it, with the place of everything in it.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::mistake::Mistakes;

/// Files longer than this are none that a person wrote.
pub(super) const LONGEST: usize = 1 << 20;

/// A file, and where its lines begin.
pub(super) struct Document<'t> {
    text: &'t str,
    root: Spanned<DeTable<'t>>,
}

/// A table of the file, with the path of keys that leads to it.
#[derive(Clone, Copy)]
pub(crate) struct Table<'d, 't> {
    document: &'d Document<'t>,
    entries: &'d DeTable<'t>,
    pub(crate) line: usize,
}

/// A key of a table, and what it is given.
#[derive(Clone)]
pub(crate) struct Entry<'d, 't> {
    document: &'d Document<'t>,
    pub(crate) name: &'d str,
    /// The path of keys that leads here.
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) value: &'d DeValue<'t>,
}

impl<'t> Document<'t> {
    /// Parses `text`; what is no TOML is told with its line.
    pub(super) fn parse(text: &'t str, mistakes: &mut Mistakes) -> Self {
        let (root, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            mistakes.add((line, "TOML"), error.message(), "see https://toml.io");
        }
        Self { text, root }
    }

    pub(super) fn root(&self) -> Table<'_, 't> {
        Table { document: self, entries: self.root.get_ref(), line: 1 }
    }
}

/// The number of the line in which byte `at` lies.
fn line_of(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    before.iter().filter(|&&byte| byte == b'\n').count() + 1
}

impl<'d, 't> Table<'d, 't> {
    /// What is in it, each with a path that begins with `path`.
    pub(crate) fn entries(self, path: &str) -> impl Iterator<Item = Entry<'d, 't>> + use<'d, 't> {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
        self.entries.iter().map(move |(key, value)| {
            let name: &str = key.get_ref();
            let line = line_of(self.document.text, key.span().start);
            let path = format!("{prefix}{name}");
            Entry { document: self.document, name, path, line, value: value.get_ref() }
        })
    }
}

impl<'d, 't> Entry<'d, 't> {
    /// Where it is, for a mistake.
    pub(crate) fn place(&self) -> (usize, &str) {
        (self.line, &self.path)
    }

    pub(crate) fn table(&self) -> Option<Table<'d, 't>> {
        let DeValue::Table(entries) = self.value else { return None };
        Some(Table { document: self.document, entries, line: self.line })
    }

    /// Its items where it is a list, each numbered from 1 in its path; else itself alone.
    pub(crate) fn items(&self) -> Vec<Self> {
        let DeValue::Array(items) = self.value else { return vec![self.clone()] };
        let item = |(at, value): (usize, &'d Spanned<DeValue<'t>>)| Self {
            path: format!("{}[{}]", self.path, at + 1),
            line: line_of(self.document.text, value.span().start),
            value: value.get_ref(),
            ..self.clone()
        };
        items.iter().enumerate().map(item).collect()
    }

    /// A plain value as text: what is written between quotes, or a number.
    pub(crate) fn text(&self) -> Option<String> {
        match self.value {
            DeValue::String(text) => Some(text.clone().into_owned()),
            DeValue::Integer(number) => Some(number.to_string()),
            DeValue::Float(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// A number, whole or not.
    pub(crate) fn number(&self) -> Option<f64> {
        match self.value {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => None,
        }
        .filter(|number: &f64| number.is_finite())
    }

    /// What kind of value it is, for a mistake.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            DeValue::String(_) => "text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        }
    }
}
