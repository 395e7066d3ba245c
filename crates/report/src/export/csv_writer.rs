//! Comma-separated values. The columns come from the JSON Schema of the row's type, so that they do not depend on the
//! data. Nested objects are flattened.

use std::collections::BTreeSet;
use std::io::{self, Write};

use csv::{Terminator, WriterBuilder};
use ipcperf_model::printable::printable;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Map, Value};

/// Suffixes of the two columns in which a pair is written.
const PAIR_SUFFIXES: [&str; 2] = ["low", "high"];
/// Characters that a spreadsheet takes for the start of a formula, and the mark that prevents it.
const FORMULA_PREFIXES: [char; 4] = ['=', '+', '-', '@'];
const FORMULA_ESCAPE: char = '\'';

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Column {
    name: String,
    /// JSON pointer to its value in a row.
    pointer: String,
}

/// Keys that decide about columns.
#[derive(Clone, Debug, Default)]
pub(super) struct ColumnKeys {
    /// Keys of roles, which the type does not contain.
    pub(super) roles: BTreeSet<String>,
    /// Keys that a row may lack, and that get a column all the same; others of this kind get none.
    pub(super) optional: BTreeSet<String>,
    /// Keys that are not written.
    pub(super) omitted: &'static [&'static str],
}

/// Writes a header and `rows`, whose type is `T`.
///
/// # Errors
/// Fails if writing to `out` fails.
pub(super) fn write<T: JsonSchema>(
    given: &ColumnKeys,
    rows: impl Iterator<Item = impl Serialize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut columns = columns::<T>(given);
    columns.retain(|column| !given.omitted.contains(&column.name.as_str()));
    let mut sheet = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out);
    sheet.write_record(columns.iter().map(|column| escape_formula(&column.name)))?;
    for row in rows {
        let row = serde_json::to_value(row)?;
        let value = |column: &Column| row.pointer(&column.pointer).map_or_else(String::new, cell);
        sheet.write_record(columns.iter().map(value))?;
    }
    sheet.flush()
}

fn columns<T: JsonSchema>(given: &ColumnKeys) -> Vec<Column> {
    let roles = &given.roles;
    let generator = SchemaSettings::default().for_serialize().into_generator();
    let schema = generator.into_root_schema_for::<T>().to_value();
    let mut finder = ColumnFinder { schema: &schema, roles, columns: Vec::new() };
    let optional = given.optional.iter().map(String::as_str);
    let optional = optional.filter(|key| schema["properties"].get(key).is_some());
    for key in keys(&schema).into_iter().chain(optional) {
        finder.find(&schema["properties"][key], key.to_owned(), pointer("", key));
    }
    let mut columns = finder.columns;
    if schema.get("patternProperties").is_some() {
        let role_column = |key: &String| Column { name: key.clone(), pointer: pointer("", key) };
        columns.extend(roles.iter().map(role_column));
    }
    columns
}

/// Returns the keys of an object in the order of its type. `properties` is sorted, but `required` is not.
fn keys(schema: &Value) -> Vec<&str> {
    let required = schema["required"].as_array().into_iter().flatten();
    required.filter_map(Value::as_str).collect()
}

/// Appends a key to a JSON pointer.
fn pointer(base: &str, key: &str) -> String {
    format!("{base}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Collects the columns of a row's keys.
struct ColumnFinder<'a> {
    schema: &'a Value,
    roles: &'a BTreeSet<String>,
    columns: Vec<Column>,
}

impl<'a> ColumnFinder<'a> {
    fn find(&mut self, part: &'a Value, name: String, at: String) {
        let part = self.resolve(part);
        let inner = &part["additionalProperties"];
        if part["properties"].is_object() {
            for key in keys(part) {
                let child = &part["properties"][key];
                self.find(child, format!("{name}_{key}"), pointer(&at, key));
            }
        } else if self.resolve(inner)["properties"].is_object() {
            for role in self.roles {
                self.find(inner, role.clone(), pointer(&at, role));
            }
        } else if part["maxItems"] == PAIR_SUFFIXES.len() {
            for (place, end) in PAIR_SUFFIXES.iter().enumerate() {
                let (name, pointer) = (format!("{name}_{end}"), format!("{at}/{place}"));
                self.columns.push(Column { name, pointer });
            }
        } else {
            self.columns.push(Column { name, pointer: at });
        }
    }

    /// Returns the schema behind `part`: follows a reference, and skips null alternatives.
    fn resolve(&self, part: &'a Value) -> &'a Value {
        let choices = part["anyOf"].as_array();
        let there = choices.and_then(|all| all.iter().find(|one| one["type"] != "null"));
        let part = there.unwrap_or(part);
        let reference = part["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        reference.and_then(|pointer| self.schema.pointer(pointer)).unwrap_or(part)
    }
}

/// Formats a value as the text of a cell.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => escape_formula(text),
        Value::Array(values) => list(values),
        Value::Object(settings) => options(settings),
    }
}

fn list(values: &[Value]) -> String {
    if values.iter().any(Value::is_object) {
        return escape_formula(&Value::from(values).to_string());
    }
    escape_formula(&values.iter().map(plain_text).collect::<Vec<_>>().join(" "))
}

fn options(settings: &Map<String, Value>) -> String {
    let settings = settings.iter().map(|(name, value)| format!("{name}={}", plain_text(value)));
    escape_formula(&settings.collect::<Vec<_>>().join(" "))
}

fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Marks `text` if a spreadsheet would take it for a formula. Text that already starts with the mark gets another one,
/// so that removing one mark always restores the text.
fn escape_formula(text: &str) -> String {
    let dangerous = |first: char| FORMULA_PREFIXES.contains(&first) || first == FORMULA_ESCAPE;
    let text = printable(text);
    if text.starts_with(dangerous) { format!("{FORMULA_ESCAPE}{text}") } else { text.into_owned() }
}
