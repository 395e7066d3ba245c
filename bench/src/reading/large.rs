//! Expansion of a small results file into a large one: its samples are repeated as cases of other sizes.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::error::BenchError;

/// Size of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileShape {
    pub(super) cases: usize,
    pub(super) repetitions: usize,
}

impl fmt::Display for FileShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cases of {} repetitions", self.cases, self.repetitions)
    }
}

type Object = Map<String, Value>;

/// Contents of a small file.
#[derive(Default)]
struct SmallFile {
    header: Object,
    /// Samples of each case, without the first, which is excluded.
    samples: BTreeMap<String, Vec<Object>>,
    footer: Object,
}

/// Writes a file of `shape` to `to`, from the lines of `small`.
pub(super) fn write(small: &Path, to: &Path, shape: FileShape) -> Result<(), BenchError> {
    let wrong = |path: &Path| {
        let path = path.to_owned();
        |error| BenchError::File { path, error }
    };
    let text = std::fs::read_to_string(small).map_err(wrong(small))?;
    let small = SmallFile::read(&text).map_err(|error| wrong(small)(error.into()))?;
    if small.samples.is_empty() {
        return Err(BenchError::NoValues);
    }
    let mut out = BufWriter::new(File::create(to).map_err(wrong(to))?);
    small.expand(shape, &mut out).and_then(|()| out.flush()).map_err(wrong(to))
}

impl SmallFile {
    fn read(text: &str) -> serde_json::Result<Self> {
        let mut small = Self::default();
        for line in text.lines() {
            let object: Object = serde_json::from_str(line)?;
            match object.get("kind").and_then(Value::as_str) {
                Some("header") => small.header = object,
                Some("footer") => small.footer = object,
                Some("sample") if object.get("block") != Some(&json!(0)) => {
                    let case = object.get("case_id").and_then(Value::as_str).unwrap_or_default();
                    small.samples.entry(case.to_owned()).or_default().push(object);
                }
                _ => {}
            }
        }
        Ok(small)
    }

    /// Returns the name and size of each of `count` cases, and the samples that they reuse: all cases in turn, a byte
    /// larger each time round. The sizes of `small` are further apart than that.
    fn cases(&self, count: usize) -> impl Iterator<Item = (String, u64, &[Object])> {
        let rounds = (0_u64..).flat_map(|round| self.samples.iter().map(move |one| (round, one)));
        rounds.take(count).map(|(round, (id, samples))| {
            let bytes = samples[0].get("buffer_bytes").and_then(Value::as_u64).unwrap_or(0) + round;
            let stem = id.rsplit_once('/').map_or("", |(stem, _)| stem);
            (format!("{stem}/{bytes}"), bytes, samples.as_slice())
        })
    }

    fn expand(&self, shape: FileShape, out: &mut impl Write) -> std::io::Result<()> {
        let ids: Vec<String> = self.cases(shape.cases).map(|(id, ..)| id).collect();
        let mut header = self.header.clone();
        for (key, value) in [("cases", json!(ids)), ("specs", json!([])), ("refused", json!([]))] {
            header["plan"][key] = value;
        }
        line(out, header)?;
        for (id, bytes, samples) in self.cases(shape.cases) {
            let repetitions = samples.iter().cycle().zip(1..=shape.repetitions);
            for (sample, repetition) in repetitions {
                line(out, repeated(sample, &id, bytes, repetition))?;
            }
        }
        let mut footer = self.footer.clone();
        footer.insert("samples".to_owned(), json!(shape.cases * shape.repetitions));
        line(out, footer)
    }
}

/// Returns `sample` as the given `repetition` of another case; it counts as valid, even if it was disturbed.
fn repeated(sample: &Object, id: &str, bytes: u64, repetition: usize) -> Object {
    let mut sample = sample.clone();
    let changed = [
        ("case_id", json!(id)),
        ("run_id", json!(format!("{repetition}.{id}.1"))),
        ("buffer_bytes", json!(bytes)),
        ("repetition", json!(repetition)),
        ("block", json!(repetition)),
        ("excluded", json!(null)),
    ];
    sample.extend(changed.map(|(key, value)| (key.to_owned(), value)));
    sample
}

/// Writes `object` like ipcperf, with its kind first.
fn line(out: &mut impl Write, mut object: Object) -> std::io::Result<()> {
    let kind = object.remove("kind").unwrap_or_default();
    let rest = Value::Object(object).to_string();
    writeln!(out, "{{\"kind\":{kind},{}", &rest[1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"{"kind":"header","plan":{"cases":["a/64","b/64"]}}
{"kind":"sample","case_id":"a/64","block":0,"buffer_bytes":64,"elapsed_ns":1}
{"kind":"sample","case_id":"a/64","block":1,"buffer_bytes":64,"elapsed_ns":2}
{"kind":"sample","case_id":"b/64","block":1,"buffer_bytes":64,"elapsed_ns":3,"excluded":"disturbed"}
{"kind":"footer","samples":3}
"#;

    #[test]
    fn a_few_samples_make_many_cases() {
        let (small, mut out) = (SmallFile::read(SMALL).unwrap(), Vec::new());
        small.expand(FileShape { cases: 3, repetitions: 2 }, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<Object> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert!(text.lines().all(|line| line.starts_with("{\"kind\":\"")));
        assert_eq!(lines[0]["plan"]["cases"], json!(["a/64", "b/64", "a/65"]));
        let told: Vec<_> = lines[1..7].iter().map(|l| (&l["case_id"], &l["elapsed_ns"])).collect();
        let (a, b, c) = (&json!("a/64"), &json!("b/64"), &json!("a/65"));
        let (two, three) = (&json!(2), &json!(3));
        assert_eq!(told, [(a, two), (a, two), (b, three), (b, three), (c, two), (c, two)]);
        assert!(lines[1..7].iter().all(|line| line["excluded"].is_null()));
        assert_eq!(lines[7]["samples"], json!(6));
    }
}
