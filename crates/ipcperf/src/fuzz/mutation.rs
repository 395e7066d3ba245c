//! Mutations of a file: of its bytes, its lines and the values in them.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde_json::{Map, Value, json};

use super::odd_values;

type Lines = Vec<Vec<u8>>;
type Mutation = fn(&mut Lines, &mut ChaCha8Rng);

/// All mutations; those that are listed several times are more frequent.
const MUTATIONS: &[Mutation] = &[
    flip_bytes,
    truncate_line,
    truncate_file,
    drop_line,
    duplicate_line,
    swap_lines,
    foreign_line,
    replace_value,
    replace_value,
    replace_value,
    remove_key,
    remove_key,
    replace_key,
    replace_key,
    replace_key_everywhere,
    replace_key_everywhere,
    replace_key_everywhere,
    replace_magnitudes,
    histogram,
    histogram,
    limits,
    exclude_nothing,
    exclude_nothing,
    turn_into_failures,
    multiply_entries,
];

/// Applies some mutations to `file`.
pub(super) fn mutated(file: &str, random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut lines: Lines = file.lines().map(|line| line.as_bytes().to_vec()).collect();
    for _ in 0..random.random_range(1..=4) {
        MUTATIONS[random.random_range(0..MUTATIONS.len())](&mut lines, random);
        if lines.is_empty() {
            break;
        }
    }
    let mut bytes = lines.join(&b'\n');
    if random.random_ratio(9, 10) {
        bytes.push(b'\n');
    }
    bytes
}

fn random_line(lines: &Lines, random: &mut ChaCha8Rng) -> usize {
    random.random_range(0..lines.len())
}

fn flip_bytes(lines: &mut Lines, random: &mut ChaCha8Rng) {
    let at = random_line(lines, random);
    for _ in 0..random.random_range(1..8) {
        if let Some(last) = lines[at].len().checked_sub(1) {
            lines[at][random.random_range(0..=last)] ^= random.random_range(1..=255_u8);
        }
    }
}

fn truncate_line(lines: &mut Lines, random: &mut ChaCha8Rng) {
    let at = random_line(lines, random);
    let length = random.random_range(0..=lines[at].len());
    lines[at].truncate(length);
}

fn truncate_file(lines: &mut Lines, random: &mut ChaCha8Rng) {
    lines.truncate(random.random_range(0..=lines.len()));
}

fn drop_line(lines: &mut Lines, random: &mut ChaCha8Rng) {
    lines.remove(random_line(lines, random));
}

fn duplicate_line(lines: &mut Lines, random: &mut ChaCha8Rng) {
    let (from, to) = (random_line(lines, random), random_line(lines, random));
    lines.insert(to, lines[from].clone());
}

fn swap_lines(lines: &mut Lines, random: &mut ChaCha8Rng) {
    let (one, other) = (random_line(lines, random), random_line(lines, random));
    lines.swap(one, other);
}

fn foreign_line(lines: &mut Lines, random: &mut ChaCha8Rng) {
    let at = random_line(lines, random);
    let texts = ["", "[]", "null", "{}", "{\"kind\":\"observation\"}", "\u{feff}{}", "[[[[[[[["];
    lines[at] = texts[random.random_range(0..texts.len())].as_bytes().to_vec();
}

/// Applies `change` to a line, if it is an object.
fn change_line(line: &mut Vec<u8>, change: impl FnOnce(&mut Map<String, Value>)) {
    if let Ok(Value::Object(mut object)) = serde_json::from_slice(line) {
        change(&mut object);
        // The kind comes first, as in files that we write, so that the fast path of the reader is tested too.
        let kind = object.remove("kind").unwrap_or_default();
        let rest = Value::Object(object).to_string();
        *line = format!("{{\"kind\":{kind},{}", &rest[1..]).into_bytes();
    }
}

/// Applies `change` to each line of the kind `kind`.
fn change_each(lines: &mut Lines, kind: &str, mut change: impl FnMut(&mut Map<String, Value>)) {
    let start = format!("{{\"kind\":\"{kind}\"");
    for line in lines.iter_mut().filter(|line| line.starts_with(start.as_bytes())) {
        change_line(line, &mut change);
    }
}

/// Returns a random value within a line; it may be an array or an object.
fn random_place<'a>(mut value: &'a mut Value, random: &mut ChaCha8Rng) -> &'a mut Value {
    loop {
        let inner = match &*value {
            Value::Array(values) => values.len(),
            Value::Object(values) => values.len(),
            _ => 0,
        };
        if inner == 0 || random.random_ratio(1, 12) {
            return value;
        }
        let at = random.random_range(0..inner);
        value = match value {
            Value::Array(values) => &mut values[at],
            Value::Object(values) => values.values_mut().nth(at).expect("counted"),
            _ => unreachable!("has nothing inside"),
        };
    }
}

fn replace_value(lines: &mut Lines, random: &mut ChaCha8Rng) {
    // The header is a single line, but has most of the fields.
    let at = if random.random_ratio(1, 3) { 0 } else { random_line(lines, random) };
    change_line(&mut lines[at], |object| {
        let at = random.random_range(0..object.len().max(1));
        if let Some(value) = object.values_mut().nth(at) {
            *random_place(value, random) = odd_values::value(random);
        }
    });
}

fn remove_key(lines: &mut Lines, random: &mut ChaCha8Rng) {
    let at = random_line(lines, random);
    change_line(&mut lines[at], |object| drop(object.remove(&random_key(object, random))));
}

fn random_key(object: &Map<String, Value>, random: &mut ChaCha8Rng) -> String {
    let at = random.random_range(0..object.len().max(1));
    object.keys().nth(at).cloned().unwrap_or_default()
}

/// Returns a random value of the same type as `value`.
fn value_of_same_type(value: &Value, random: &mut ChaCha8Rng) -> Value {
    match value {
        Value::String(_) => odd_values::text(random).into(),
        Value::Array(_) => {
            [json!([]), json!([0]), json!([u32::MAX, 0, 1])][random.random_range(0..3)].clone()
        }
        Value::Object(_) => json!({ odd_values::text(random): odd_values::text(random) }),
        Value::Null if random.random_ratio(1, 2) => odd_values::text(random).into(),
        _ => odd_values::number(random),
    }
}

fn replace_key(lines: &mut Lines, random: &mut ChaCha8Rng) {
    let at = random_line(lines, random);
    change_line(&mut lines[at], |object| {
        let key = random_key(object, random);
        let value = object.get(&key).map(|value| value_of_same_type(value, random));
        object.insert(key, value.unwrap_or_default());
    });
}

/// Sets one key in every sample, to the same value or to a different one each time.
fn replace_key_everywhere(lines: &mut Lines, random: &mut ChaCha8Rng) {
    let (mut key, mut one) = (None, None);
    let is_one = random.random_ratio(1, 2);
    change_each(lines, "sample", |object| {
        let key = key.get_or_insert_with(|| random_key(object, random));
        let Some(old) = object.get(key) else { return };
        let new = value_of_same_type(old, random);
        let new = if is_one { one.get_or_insert(new).clone() } else { new };
        object.insert(key.clone(), new);
    });
}

/// Integer keys that readers add, divide and multiply.
const INTEGER_KEYS: [&str; 7] = [
    "elapsed_ns",
    "bandwidth_bytes_per_s",
    "messages",
    "lost_messages",
    "total_bytes",
    "buffer_bytes",
    "sender_cpu_ns",
];

/// Sets figures from almost zero to almost infinity, which exercises medians and modes.
fn replace_magnitudes(lines: &mut Lines, random: &mut ChaCha8Rng) {
    let largest = random.random_range(1..300);
    change_each(lines, "sample", |object| {
        let size = 10_f64.powi(random.random_range(-largest..largest));
        object.insert("round_trip_ns_mean".to_owned(), json!(size));
        for key in INTEGER_KEYS {
            if random.random_ratio(2, 3) {
                let bits = random.random_range(0..64);
                object.insert(key.to_owned(), json!(random.random::<u64>() >> bits));
            }
        }
    });
}

/// Changes bytes in the histograms of all samples; the first characters are the header, with the bounds.
fn histogram(lines: &mut Lines, random: &mut ChaCha8Rng) {
    const LETTERS: &[u8] = b"AQEBIg/+89wxyz";
    const HEADER: usize = 54;
    let within_header = random.random_ratio(1, 2);
    change_each(lines, "sample", |object| {
        let Some(Value::String(text)) = object.get_mut("round_trip_histogram") else { return };
        let mut letters = std::mem::take(text).into_bytes();
        let end = letters.len().min(if within_header { HEADER } else { usize::MAX });
        for _ in 0..random.random_range(1..6) {
            let letter = LETTERS[random.random_range(0..LETTERS.len())];
            if let Some(at) = end.checked_sub(1).map(|last| random.random_range(0..=last)) {
                letters[at] = letter;
            }
        }
        if random.random_ratio(1, 8) {
            letters.truncate(random.random_range(0..=letters.len() / 4) * 4);
        }
        *text = String::from_utf8_lossy(&letters).into_owned();
    });
}

/// Sets odd values in the hardware limits.
fn limits(lines: &mut Lines, random: &mut ChaCha8Rng) {
    change_line(&mut lines[0], |header| {
        for _ in 0..random.random_range(1..6) {
            if let Some(limits) = header.get_mut("limits") {
                let place = random_place(limits, random);
                *place = value_of_same_type(place, random);
            }
        }
    });
}

/// Makes every sample valid, so that there is more to summarize.
fn exclude_nothing(lines: &mut Lines, _: &mut ChaCha8Rng) {
    change_each(lines, "sample", |object| drop(object.insert("excluded".to_owned(), json!(null))));
}

/// Turns samples into failures.
fn turn_into_failures(lines: &mut Lines, random: &mut ChaCha8Rng) {
    change_each(lines, "sample", |object| {
        if random.random_ratio(1, 3) {
            let odd = [("where", odd_values::text(random)), ("remedy", odd_values::text(random))];
            object.extend(odd.map(|(key, text)| (key.to_owned(), text.into())));
            object.insert("what".to_owned(), json!("timeout"));
            object.insert("role".to_owned(), json!(null));
            object.insert("errno".to_owned(), odd_values::number(random));
            object.insert("kind".to_owned(), json!("failure"));
        }
    });
}

/// Adds thousands of an item that is usually rare: classes, cases, placements, mechanisms, CPUs.
fn multiply_entries(lines: &mut Lines, random: &mut ChaCha8Rng) {
    const KEYS: [&str; 7] =
        ["cpu_pair_class", "case_id", "placement", "mechanism", "kernel_buffer", "run_id", "cpus"];
    let is_sample = |line: &&Vec<u8>| line.starts_with(b"{\"kind\":\"sample\"");
    let Some(sample) = lines.iter().rfind(is_sample).cloned() else { return };
    let key = KEYS[random.random_range(0..KEYS.len())];
    let copies = random.random_range(1..3_000);
    let mut names = Vec::new();
    for number in 0..copies {
        let name = if key == "cpus" { json!([number, 1]) } else { json!(format!("{number}")) };
        let mut line = sample.clone();
        change_line(&mut line, |object| {
            object.insert(key.to_owned(), name.clone());
            if key != "case_id" && key != "cpu_pair_class" {
                object.insert("case_id".to_owned(), json!(format!("{number}")));
            }
            object.insert("excluded".to_owned(), json!(null));
            names.extend(object.get("case_id").cloned());
        });
        lines.push(line);
    }
    names.dedup();
    change_line(&mut lines[0], |header| {
        if let Some(Value::Array(cases)) =
            header.get_mut("plan").and_then(|plan| plan.get_mut("cases"))
        {
            cases.extend(names);
        }
    });
}
