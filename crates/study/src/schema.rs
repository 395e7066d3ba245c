//! The JSON Schema of a study's file, for editors, made from the keys. It is published in
//! `docs/study.schema.json`; a test holds the two together.

use ipcperf_model::instrument::INSTRUMENTS;
use ipcperf_model::message_options::{FirstTouch, Reuse, Touch};
use ipcperf_model::workload::WORKLOADS;
use ipcperf_model::{Mode, placement};
use ipcperf_plan::{MECHANISMS, OwnKind};
use ipcperf_results::keys_of_roles;
use serde_json::{Map, Value, json};

use super::MOST_TABLES;
use super::key::{Key, Need, Takes};
use super::metric::METRICS;
use super::section::{Repeats, Section};
use super::sections::{BESIDE, HYPOTHESIS, MATRIX, SECTIONS, TOP};
use super::selection::FACTORS;
use crate::hypothesis::{TESTS, Test};

/// What a size, or a range of sizes, looks like.
const SIZE: &str = r"[0-9]+ ?(B|KiB|MiB|GiB|kB|KB|MB|GB)?";

/// The schema.
pub fn schema() -> Value {
    let mut root = table(TOP.keys.iter());
    let sections = SECTIONS.into_iter().filter(|section| !section.name.is_empty());
    for section in sections {
        root["properties"][section.name] = of_section(section);
    }
    root["required"] = json!(["name", "title", "question", MATRIX.name]);
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("A study of ipcperf");
    root
}

fn of_section(section: &Section) -> Value {
    let mut one = match section.name {
        name if name == HYPOTHESIS.name => hypothesis(section),
        name if name == MATRIX.name => with_options(table(section.keys.iter())),
        _ => table(section.keys.iter()),
    };
    one["description"] = json!(section.about);
    match section.repeats {
        Repeats::Once => one,
        Repeats::Often => json!({ "type": "array", "items": one, "maxItems": MOST_TABLES }),
    }
}

/// A hypothesis may have the keys of its test.
fn hypothesis(section: &Section) -> Value {
    let mut one = table(section.keys.iter().chain(TESTS.iter().flat_map(|test| test.keys)));
    one["required"] = json!(["id", "claim", "test"]);
    one["properties"]["test"]["oneOf"] = TESTS.iter().map(|test| explained(test)).collect();
    one["allOf"] = TESTS.iter().map(|test| of_test(section, test)).collect();
    one
}

/// A test with all that is said of it.
fn explained(test: &Test) -> Value {
    let Test { name, about, formula, assumptions, source, .. } = test;
    json!({
        "const": name,
        "description": format!("{about}. {formula} Supposes: {assumptions} Source: {source}."),
    })
}

/// Which keys there are where `test` is named.
fn of_test(section: &Section, test: &Test) -> Value {
    let keys: Vec<&str> = section.keys.iter().chain(test.keys).map(|key| key.name).collect();
    json!({
        "if": { "properties": { "test": { "const": test.name } }, "required": ["test"] },
        "then": { "propertyNames": { "enum": keys }, "required": required(test.keys.iter()) },
    })
}

fn required<'k>(keys: impl Iterator<Item = &'k Key>) -> Vec<&'k str> {
    keys.filter(|key| key.need == Need::Required).map(|key| key.name).collect()
}

/// A table of `keys`; of two of one name the first counts.
fn table<'k>(keys: impl Iterator<Item = &'k Key> + Clone) -> Value {
    let mut properties = Map::new();
    for key in keys.clone() {
        properties.entry(key.name).or_insert_with(|| property(key));
    }
    json!({
        "type": "object", "properties": properties, "required": required(keys),
        "additionalProperties": false,
    })
}

/// `table` with what is the mechanisms' own: a table of options for each that has some.
fn with_options(mut table: Value) -> Value {
    for mechanism in MECHANISMS.iter().filter(|known| !known.options.is_empty()) {
        let options: Map<String, Value> = mechanism
            .options
            .iter()
            .map(|option| {
                (option.name.to_owned(), levels(&json!({ "type": ["string", "number"] })))
            })
            .collect();
        table["properties"][mechanism.name] =
            json!({ "type": "object", "properties": options, "additionalProperties": false });
    }
    for kind in OwnKind::ALL {
        table["properties"][kind.word()] = json!({ "type": "object" });
    }
    table
}

fn property(key: &Key) -> Value {
    let mut property = match key.takes {
        Takes::Levels => levels(&level(key.name)),
        other => takes(other),
    };
    property["description"] = json!(key.about);
    if let Need::Optional(usual) = key.need {
        property["description"] = json!(format!("{} [left out: {usual}]", key.about));
    }
    property
}

/// One level, or a list of them.
fn levels(level: &Value) -> Value {
    json!({ "anyOf": [level, { "type": "array", "items": level, "minItems": 1 }] })
}

/// A level of `factor`: one of its words or several, parted by commas; numbers where it is a size.
fn level(factor: &str) -> Value {
    let words: Vec<&str> = match factor {
        "mechanism" => MECHANISMS.iter().map(|known| known.name).chain(["all"]).collect(),
        "workload" => WORKLOADS.iter().map(|known| known.name).collect(),
        "mode" => Mode::ALL.into_iter().map(Mode::name).collect(),
        "placement" => placement::WORDS.iter().map(|(word, _)| *word).collect(),
        "touch" => Touch::ALL.into_iter().map(Touch::name).collect(),
        "buffers" => Reuse::ALL.into_iter().map(Reuse::name).collect(),
        "first_touch" => FirstTouch::ALL.into_iter().map(FirstTouch::name).collect(),
        "instrument" => INSTRUMENTS.iter().map(|known| known.name).chain(["none"]).collect(),
        "kernel_buffer" => return sizes_or(&["default", "match"]),
        "reply" => return sizes_or(&["echo"]),
        "buffer" | "total" | "between" => return sizes_or(&[]),
        _ => return json!({ "type": ["string", "number"] }),
    };
    // Pairs of CPUs, and mechanisms of one's own, are no words.
    let free = if factor == "placement" { "|[0-9]+:[0-9]+" } else { "" };
    let free = if factor == "mechanism" { "|(lib|exec):[^,]+" } else { free };
    let one = format!(" *({}{free}) *", words.join("|"));
    let list = json!({ "type": "string", "pattern": format!("^{one}(,{one})*$") });
    json!({ "anyOf": [{ "enum": words }, list] })
}

/// Sizes and ranges of them, or some words.
fn sizes_or(words: &[&str]) -> Value {
    let range = format!(r" *({SIZE}(\.\.{SIZE}([:*][0-9]+)?)?) *");
    let one = std::iter::once(range).chain(words.iter().map(|word| format!(" *{word} *")));
    let one = format!("({})", one.collect::<Vec<_>>().join("|"));
    let list = json!({ "type": "string", "pattern": format!("^{one}(,{one})*$") });
    json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, list] })
}

fn takes(takes: Takes) -> Value {
    match takes {
        Takes::Text => json!({ "type": "string", "minLength": 1 }),
        Takes::Name => json!({ "type": "string", "pattern": "^[A-Za-z0-9._-]{1,100}$" }),
        Takes::Levels => levels(&level("")),
        Takes::Whole(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Takes::Number(least, f64::MAX) => json!({ "type": "number", "minimum": least }),
        Takes::Number(least, most) => {
            json!({ "type": "number", "minimum": least, "maximum": most })
        }
        Takes::OneOf(words) => json!({ "enum": words }),
        Takes::Bytes => json!({
            "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "pattern": format!("^ *{SIZE} *$") }],
        }),
        Takes::Cases => cases(),
        Takes::Metric => metric(),
        Takes::Metrics => levels(&metric()),
        Takes::Words(words) => levels(&json!({ "enum": words })),
        Takes::Fields => json!({
            "type": "object", "minProperties": 1,
            "additionalProperties": { "type": ["string", "number"] },
        }),
        Takes::Table(keys) => table(keys.iter()),
        Takes::Tables(keys) => json!({ "type": "array", "items": table(keys.iter()) }),
        Takes::Judgement => {
            let keys = BESIDE.iter().chain(TESTS.iter().flat_map(|test| test.keys));
            let mut judgement =
                table(keys.filter(|key| !matches!(key.takes, Takes::Cases | Takes::Judgement)));
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
    all.push(json!({ "enum": keys_of_roles().collect::<Vec<_>>() }));
    let instruments: Vec<&str> = INSTRUMENTS.iter().map(|known| known.name).collect();
    // Which rows are meant is told by keys that are the instrument's own.
    let seen = json!({
        "type": "object", "required": ["instrument", "field"],
        "properties": {
            "instrument": { "enum": instruments },
            "better": { "enum": ["higher", "lower"] },
        },
        "additionalProperties": { "type": ["string", "number"] },
    });
    all.push(seen);
    json!({ "anyOf": all })
}
