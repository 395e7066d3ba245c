//! A study file as parsed TOML, with the line of every table, key and value.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::mistake::Mistakes;
use super::section::{Occurrence, Section};

/// Maximum size of a study file, bytes. No file written by hand is longer.
pub(super) const MAX_BYTES: usize = 1 << 20;
/// Maximum number of characters of the offending text quoted in a message.
const MAX_QUOTED_CHARS: usize = 40;

/// A parsed file and the positions of its lines.
pub(super) struct Document<'t> {
    lines: Lines,
    root: Spanned<DeTable<'t>>,
}

/// Byte offsets at which the lines of a text begin, except the first.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(ends.map(|(at, _)| at + 1).collect())
    }

    /// Returns the number of the line that contains byte `at`, counted from 1.
    fn number(&self, at: usize) -> usize {
        self.0.partition_point(|&begin| begin <= at) + 1
    }
}

/// A table of the file.
#[derive(Clone, Copy)]
pub struct Table<'d, 't> {
    document: &'d Document<'t>,
    entries: &'d DeTable<'t>,
    /// Line in which the table begins.
    pub line: usize,
}

/// A key of a table and its value.
#[derive(Clone)]
pub struct Entry<'d, 't> {
    document: &'d Document<'t>,
    /// Name of the key.
    pub name: &'d str,
    /// Path of keys that leads here, such as `hypothesis[2].test`.
    pub path: String,
    /// Line of the key.
    pub line: usize,
    /// Value of the key.
    pub value: &'d DeValue<'t>,
}

impl<'t> Document<'t> {
    /// Parses `text`. Reports only the first TOML syntax error, with its line.
    pub(super) fn parse(
        text: &'t str,
        sections: &[&'static Section],
        mistakes: &mut Mistakes,
    ) -> Self {
        let lines = Lines::new(text);
        let (root, errors) = DeTable::parse_recoverable(text);
        // After the first syntax error, the parser only guesses.
        if let Some(error) = errors.first() {
            let line = error.span().map_or(1, |span| lines.number(span.start));
            let at = error.span().and_then(|span| text.get(span)).unwrap_or_default();
            let (what, remedy) = syntax_mistake(
                error.message(),
                at.lines().next().unwrap_or_default().trim(),
                sections,
            );
            mistakes.add((line, "TOML"), what, remedy);
        }
        Self { lines, root }
    }

    pub(super) fn root(&self) -> Table<'_, 't> {
        Table { document: self, entries: self.root.get_ref(), line: 1 }
    }
}

/// Remedies for TOML syntax errors, looked up by a word of the parser's message. The first match applies.
const REMEDIES: [(&str, &str); 10] = [
    ("duplicate key", "keep one of the two"),
    ("escape", "write \\\\ for a backslash, or put the text in single quotes"),
    ("quote", "put text in double quotes, and commas between items"),
    ("unclosed array table", "end the heading with ]]"),
    ("unclosed table", "end the heading with ]"),
    (
        "key-value pairs",
        "put commas between the keys of the inline table, and end each inline table with }",
    ),
    ("inline table", "write the table as { KEY = VALUE, KEY = VALUE }"),
    ("array", "write the list as [VALUE, VALUE]"),
    ("string", "end the text with the quote character that it starts with, on the same line"),
    ("", NO_VALUE),
];

const NO_VALUE: &str = "write KEY = VALUE, with text in double quotes; see https://toml.io";

/// Returns the description and the remedy of a syntax error that the parser reports as `message` at the text `at`.
fn syntax_mistake(message: &str, at: &str, sections: &[&'static Section]) -> (String, String) {
    let often = |section: &&&Section| section.name == at && section.occurrence == Occurrence::Many;
    if message.contains("duplicate key")
        && let Some(section) = sections.iter().find(often)
    {
        let remedy = format!("write {} for each of them", section.heading());
        return (format!("{message} at `{at}`"), remedy);
    }
    if at.is_empty() {
        let remedy = if message.contains("quote") { NO_VALUE } else { remedy(message) };
        return (message.to_owned(), remedy.to_owned());
    }
    let at: String = at.chars().take(MAX_QUOTED_CHARS).collect();
    (format!("{message} at `{at}`"), remedy(message).to_owned())
}

fn remedy(message: &str) -> &'static str {
    REMEDIES.iter().find(|(word, _)| message.contains(word)).map_or("", |(_, remedy)| remedy)
}

impl<'d, 't> Table<'d, 't> {
    /// Returns the entries of the table. The path of each begins with `path`.
    pub fn entries(self, path: &str) -> impl Iterator<Item = Entry<'d, 't>> + use<'d, 't> {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
        self.entries.iter().map(move |(key, value)| {
            let name: &str = key.get_ref();
            let line = self.document.lines.number(key.span().start);
            let path = format!("{prefix}{name}");
            Entry { document: self.document, name, path, line, value: value.get_ref() }
        })
    }
}

impl<'d, 't> Entry<'d, 't> {
    /// Returns the line and path, to locate a mistake.
    pub fn location(&self) -> (usize, &str) {
        (self.line, &self.path)
    }

    /// Returns the value as a table, or `None` if it is not one.
    pub fn table(&self) -> Option<Table<'d, 't>> {
        let DeValue::Table(entries) = self.value else { return None };
        Some(Table { document: self.document, entries, line: self.line })
    }

    /// Returns the items of a list, each with its number (from 1) in its path. For any other value, returns the entry
    /// itself.
    pub fn items(&self) -> Vec<Self> {
        let DeValue::Array(items) = self.value else { return vec![self.clone()] };
        let item = |(at, value): (usize, &'d Spanned<DeValue<'t>>)| Self {
            path: format!("{}[{}]", self.path, at + 1),
            line: self.document.lines.number(value.span().start),
            value: value.get_ref(),
            ..self.clone()
        };
        items.iter().enumerate().map(item).collect()
    }

    /// Whether the value is written as a list: `[...]` or `[[name]]`.
    pub const fn is_list(&self) -> bool {
        matches!(self.value, DeValue::Array(_))
    }

    /// Returns a string or number as text, and `None` for other values.
    pub fn text(&self) -> Option<String> {
        match self.value {
            DeValue::String(text) => Some(text.clone().into_owned()),
            DeValue::Integer(number) => Some(number.to_string()),
            DeValue::Float(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// Returns the value as a number, integer or floating point.
    pub fn number(&self) -> Option<f64> {
        match self.value {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => None,
        }
        .filter(|number: &f64| number.is_finite())
    }

    /// Returns the kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
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
