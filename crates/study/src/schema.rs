//! The JSON Schema of a study file, for editors, generated from the keys. It is published as `docs/study.schema.json`;
//! a test keeps that file up to date.

use ipcperf_model::instrument::INSTRUMENTS;
use ipcperf_model::message_options::{BufferReuse, FirstTouch, Touch};
use ipcperf_model::size::UNITS;
use ipcperf_model::workload::WORKLOADS;
use ipcperf_model::{CustomKind, Mode, placement};
use ipcperf_plan::{mechanism_names, option_names};
use ipcperf_results::role_keys;
use serde_json::{Map, Value, json};

use super::MAX_TABLES;
use super::key::{Key, Requirement, ValueType};
use super::metric::METRICS;
use super::section::{Occurrence, Section};
use super::section_keys::{HYPOTHESIS, MATRIX, ORIGINAL_TEST_KEYS, SECTIONS, TOP};
use super::selection::FACTORS;
use crate::hypothesis::{TESTS, Test};

/// Returns the schema.
pub fn schema() -> Value {
    let mut root = table(TOP.keys.iter());
    let sections = SECTIONS.into_iter().filter(|section| !section.name.is_empty());
    for section in sections {
        root["properties"][section.name] = section_schema(section);
    }
    root["required"] = json!(["name", "title", "question", MATRIX.name]);
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("Study of ipcperf");
    root
}

fn section_schema(section: &Section) -> Value {
    let mut one = match section.name {
        name if name == HYPOTHESIS.name => hypothesis(section),
        name if name == MATRIX.name => with_options(table(section.keys.iter())),
        _ => table(section.keys.iter()),
    };
    one["description"] = json!(section.about);
    match section.occurrence {
        Occurrence::Once => one,
        Occurrence::Many => json!({ "type": "array", "items": one, "maxItems": MAX_TABLES }),
    }
}

/// Returns the schema of a hypothesis, which also has the keys of its test.
fn hypothesis(section: &Section) -> Value {
    let keys = section.keys.iter().chain(TESTS.iter().flat_map(|test| test.keys));
    let mut one = with_test_descriptions(table(keys));
    one["required"] = json!(["id", "claim", "test"]);
    one["properties"]["test"]["oneOf"] = TESTS.iter().map(|test| test_name_schema(test)).collect();
    one["allOf"] = TESTS.iter().map(|test| test_condition(section, test)).collect();
    one
}

/// Returns the schema of a test's name, with its description.
fn test_name_schema(test: &Test) -> Value {
    let Test { name, about, estimate, supported_if, rejected_if, assumptions, source, .. } = test;
    json!({
        "const": name,
        "description": format!(
            "{about}. {estimate} Supported if {supported_if} Rejected if {rejected_if} Assumptions: {assumptions} \
             Source: {source}."
        ),
    })
}

/// Returns the condition that restricts the keys of a hypothesis that names `test`.
fn test_condition(section: &Section, test: &Test) -> Value {
    let keys: Vec<&str> = section.keys.iter().chain(test.keys).map(|key| key.name).collect();
    json!({
        "if": { "properties": { "test": { "const": test.name } }, "required": ["test"] },
        "then": { "propertyNames": { "enum": keys }, "required": required(test.keys.iter()) },
    })
}

fn required<'k>(keys: impl Iterator<Item = &'k Key>) -> Vec<&'k str> {
    keys.filter(|key| key.requirement == Requirement::Required).map(|key| key.name).collect()
}

/// Returns the condition that `key`, or the key that replaces it, is given; `None` unless there is one.
fn alternative(key: &Key) -> Option<Value> {
    match key.requirement {
        Requirement::Unless(other) => {
            Some(json!({ "oneOf": [{ "required": [key.name] }, { "required": [other] }] }))
        }
        Requirement::Required | Requirement::Optional(_) => None,
    }
}

/// Returns the schema of a table with `keys`. If two have the same name, the first is used.
fn table<'k>(keys: impl Iterator<Item = &'k Key> + Clone) -> Value {
    let mut properties = Map::new();
    for key in keys.clone() {
        properties.entry(key.name).or_insert_with(|| property(key));
    }
    let alternatives: Vec<Value> = keys.clone().filter_map(alternative).collect();
    let mut one = json!({
        "type": "object", "properties": properties, "required": required(keys),
        "additionalProperties": false,
    });
    if !alternatives.is_empty() {
        one["allOf"] = json!(alternatives);
    }
    one
}

/// Describes each key that means something different in several tests once for each of them.
fn with_test_descriptions(mut table: Value) -> Value {
    let keys = || TESTS.iter().flat_map(|test| test.keys.iter().map(move |key| (test.name, key)));
    for (_, key) in keys() {
        let same_name = || keys().filter(|(_, other)| other.name == key.name);
        let is_ambiguous = same_name().any(|(_, other)| description(other) != description(key));
        if is_ambiguous && let Some(property) = table["properties"].get_mut(key.name) {
            let texts = same_name().map(|(test, other)| format!("{test}: {}", description(other)));
            property["description"] = json!(texts.collect::<Vec<_>>().join("; "));
        }
    }
    table
}

/// Adds a table of options for each mechanism that has some.
fn with_options(mut table: Value) -> Value {
    let property =
        |option: &str| (option.to_owned(), levels(&json!({ "type": ["string", "number"] })));
    for mechanism in mechanism_names() {
        let options: Map<String, Value> = option_names(mechanism).map(property).collect();
        if !options.is_empty() {
            table["properties"][mechanism] =
                json!({ "type": "object", "properties": options, "additionalProperties": false });
        }
    }
    for kind in CustomKind::ALL {
        table["properties"][kind.word()] = json!({ "type": "object" });
    }
    table
}

fn property(key: &Key) -> Value {
    let mut property = match key.value_type {
        ValueType::Levels | ValueType::LevelPair => levels(&level(key.name)),
        other => value_schema(other),
    };
    property["description"] = json!(description(key));
    property
}

/// Returns the meaning of `key`, with its default if it is optional.
fn description(key: &Key) -> String {
    match key.requirement {
        Requirement::Required => key.about.to_owned(),
        Requirement::Unless(other) => format!("{} [unless {other} is given]", key.about),
        Requirement::Optional(usual) => format!("{} [default: {usual}]", key.about),
    }
}

/// Returns the schema of one level or a list of them.
fn levels(level: &Value) -> Value {
    json!({ "anyOf": [level, { "type": "array", "items": level, "minItems": 1 }] })
}

/// Returns the schema of a level of `factor`: a comma-separated list of its words, or numbers if it is a size.
fn level(factor: &str) -> Value {
    let words: Vec<&str> = match factor {
        "mechanism" => mechanism_names().chain(["all"]).collect(),
        "workload" => WORKLOADS.iter().map(|known| known.name).collect(),
        "mode" => Mode::ALL.into_iter().map(Mode::name).collect(),
        "placement" => placement::NAMES.iter().map(|(word, _)| *word).collect(),
        "touch" => Touch::ALL.into_iter().map(Touch::name).collect(),
        "buffers" => BufferReuse::ALL.into_iter().map(BufferReuse::name).collect(),
        "first_touch" => FirstTouch::ALL.into_iter().map(FirstTouch::name).collect(),
        "instrument" => INSTRUMENTS.iter().map(|known| known.name).chain(["none"]).collect(),
        "kernel_buffer" => return sizes_or(&["default", "match"]),
        "reply" => return sizes_or(&["echo"]),
        "buffer" | "total" | "between" => return sizes_or(&[]),
        _ => return json!({ "type": ["string", "number"] }),
    };
    // Pairs of CPUs and custom mechanisms cannot be enumerated.
    let free = if factor == "placement" { "|[0-9]+:[0-9]+" } else { "" };
    let free = if factor == "mechanism" { "|(lib|exec):[^,]+" } else { free };
    let one = format!(" *({}{free}) *", words.join("|"));
    let list = json!({ "type": "string", "pattern": format!("^{one}(,{one})*$") });
    json!({ "anyOf": [{ "enum": words }, list] })
}

/// Returns the pattern of a size.
fn size_pattern() -> String {
    let units = UNITS.iter().map(|(unit, _)| *unit).filter(|unit| !unit.is_empty());
    format!("[0-9]+ ?({})?", units.collect::<Vec<_>>().join("|"))
}

/// Returns the schema of sizes and ranges of sizes, or one of `words`.
fn sizes_or(words: &[&str]) -> Value {
    let size = size_pattern();
    let range = format!(r" *({size}(\.\.{size}([:*][0-9]+)?)?) *");
    let one = std::iter::once(range).chain(words.iter().map(|word| format!(" *{word} *")));
    let one = format!("({})", one.collect::<Vec<_>>().join("|"));
    let list = json!({ "type": "string", "pattern": format!("^{one}(,{one})*$") });
    json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, list] })
}

/// Pattern of a duration with a unit.
const DURATION_PATTERN: &str = r"^ *[0-9]+(\.[0-9]+)? *(ns|us|µs|ms|s|min|h)? *$";

fn value_schema(takes: ValueType) -> Value {
    match takes {
        ValueType::Text => json!({ "type": "string", "minLength": 1 }),
        ValueType::Name => json!({ "type": "string", "pattern": "^[A-Za-z0-9._-]{1,100}$" }),
        ValueType::Levels | ValueType::LevelPair | ValueType::Names => levels(&level("")),
        ValueType::Integer(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        ValueType::Number(least, f64::MAX) => json!({ "type": "number", "minimum": least }),
        ValueType::Number(least, most) => {
            json!({ "type": "number", "minimum": least, "maximum": most })
        }
        ValueType::Duration(least, most) => json!({
            "anyOf": [
                { "type": "number", "minimum": least, "maximum": most },
                { "type": "string", "pattern": DURATION_PATTERN },
            ],
        }),
        ValueType::Choice(words) => json!({ "enum": words }),
        ValueType::Bytes => {
            let pattern = format!("^ *{} *$", size_pattern());
            json!({
                "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "pattern": pattern }],
            })
        }
        ValueType::Cases => cases(),
        ValueType::Metric => metric(),
        ValueType::Metrics => levels(&metric()),
        ValueType::Choices(words) => levels(&json!({ "enum": words })),
        ValueType::Fields => json!({
            "type": "object", "minProperties": 1,
            "additionalProperties": { "type": ["string", "number"] },
        }),
        ValueType::Table(keys) => table(keys.iter()),
        ValueType::Tables(keys) => json!({ "type": "array", "items": table(keys.iter()) }),
        ValueType::OriginalTest => {
            let keys = ORIGINAL_TEST_KEYS.iter().chain(TESTS.iter().flat_map(|test| test.keys));
            let keys = keys.filter(|key| {
                !matches!(key.value_type, ValueType::Cases | ValueType::OriginalTest)
            });
            let mut judgement = with_test_descriptions(table(keys));
            judgement["required"] = json!([]);
            judgement
        }
    }
}

fn cases() -> Value {
    let factors: Map<String, Value> =
        FACTORS.iter().map(|factor| ((*factor).to_owned(), levels(&level(factor)))).collect();
    with_options(json!({
        "type": "object", "properties": factors, "additionalProperties": false, "minProperties": 1,
    }))
}

fn metric() -> Value {
    let named =
        METRICS.iter().map(|known| json!({ "const": known.name, "description": known.about }));
    let mut all: Vec<Value> = named.collect();
    all.push(json!({ "enum": role_keys().collect::<Vec<_>>() }));
    let instruments: Vec<&str> = INSTRUMENTS.iter().map(|known| known.name).collect();
    // The conditions on rows are fields of the instrument, so any key is allowed.
    let seen = json!({
        "type": "object", "required": ["instrument", "field"],
        "properties": {
            "instrument": { "enum": instruments },
            "better": { "enum": ["higher", "lower"] },
        },
        "additionalProperties": { "type": ["string", "number"] },
    });
    all.push(seen);
    all.push(json!({
        "type": "object", "required": ["cpu_weight"], "additionalProperties": false,
        "properties": { "cpu_weight": {
            "type": "number", "minimum": 0,
            "description": "mean latency of paced traffic plus this many times the CPU time per message",
        } },
    }));
    json!({ "anyOf": all })
}
