//! The JSON Schema of a study's file, for editors, made from the keys. It is published in
//! `docs/study.schema.json`; a test holds the two together.

use serde_json::{Map, Value, json};

use super::key::{Key, Need, Takes};
use super::metric::METRICS;
use super::sections::{HYPOTHESIS, Repeats, SECTIONS, Section, TOP};
use super::selection::FACTORS;
use crate::hypothesis::TESTS;

/// The schema.
pub(crate) fn schema() -> Value {
    let mut root = table(TOP.keys.iter());
    let sections = SECTIONS.into_iter().filter(|section| !section.name.is_empty());
    for section in sections {
        root["properties"][section.name] = of_section(section);
    }
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("A study of ipcperf");
    root
}

fn of_section(section: &Section) -> Value {
    let mut one = if section.name == HYPOTHESIS.name {
        hypothesis(section)
    } else {
        table(section.keys.iter())
    };
    one["description"] = json!(section.about);
    match section.repeats {
        Repeats::Once => one,
        Repeats::Often => json!({ "type": "array", "items": one }),
    }
}

/// A hypothesis may have the keys of any test.
fn hypothesis(section: &Section) -> Value {
    let mut keys: Vec<&Key> = section.keys.iter().collect();
    for key in TESTS.iter().flat_map(|test| test.keys) {
        if !keys.iter().any(|known| known.name == key.name) {
            keys.push(key);
        }
    }
    let mut one = table(keys.into_iter());
    one["required"] = json!(["id", "claim", "test"]);
    let names: Vec<&str> = TESTS.iter().map(|test| test.name).collect();
    one["properties"]["test"]["enum"] = json!(names);
    one
}

fn table<'k>(keys: impl Iterator<Item = &'k Key> + Clone) -> Value {
    let properties: Map<String, Value> =
        keys.clone().map(|key| (key.name.to_owned(), property(key))).collect();
    let required = keys.filter(|key| key.need == Need::Required).map(|key| key.name);
    let required: Vec<&str> = required.collect();
    // Options are tables of mechanisms' names, which editors need not know.
    let others = json!({ "type": "object" });
    json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": others,
    })
}

fn property(key: &Key) -> Value {
    let mut property = takes(key.takes);
    property["description"] = json!(key.about);
    if let Need::Optional(usual) = key.need {
        property["description"] = json!(format!("{} [left out: {usual}]", key.about));
    }
    property
}

fn takes(takes: Takes) -> Value {
    let level = json!({ "type": ["string", "number"] });
    let levels = json!({ "anyOf": [level, { "type": "array", "items": level, "minItems": 1 }] });
    match takes {
        Takes::Text => json!({ "type": "string", "minLength": 1 }),
        Takes::Name => json!({ "type": "string", "pattern": "^[A-Za-z0-9._-]{1,100}$" }),
        Takes::Levels => levels,
        Takes::Whole(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Takes::Number(least, f64::MAX) => json!({ "type": "number", "minimum": least }),
        Takes::Number(least, most) => {
            json!({ "type": "number", "minimum": least, "maximum": most })
        }
        Takes::OneOf(words) => json!({ "enum": words }),
        Takes::Bytes => json!({ "type": ["string", "integer"] }),
        Takes::Cases => {
            let factors: Map<String, Value> =
                FACTORS.iter().map(|factor| ((*factor).to_owned(), levels.clone())).collect();
            json!({ "type": "object", "properties": factors, "additionalProperties": { "type": "object" } })
        }
        Takes::Metric => metric(),
        Takes::Metrics => {
            let one = metric();
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
        }
        Takes::Words(words) => {
            let one = json!({ "enum": words });
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
        }
        Takes::Table(keys) => table(keys.iter()),
        Takes::Tables(keys) => json!({ "type": "array", "items": table(keys.iter()) }),
    }
}

/// A metric: its name, or a table that says which numbers of an instrument.
fn metric() -> Value {
    let names: Vec<&str> = METRICS.iter().map(|known| known.name).collect();
    let role = json!({ "type": "string", "pattern": "^(sender|receiver|both|broker)_" });
    json!({ "anyOf": [{ "enum": names }, role, { "type": "object", "required": ["instrument", "field"] }] })
}
