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
    /// Samples of each case in the order of the blocks. The first is excluded, because it is of block 0.
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
                Some("sample") => {
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
        let repetitions = ("repetitions", json!(shape.repetitions));
        let lists = [("cases", json!(ids)), ("specs", json!([])), ("refused", json!([]))];
        for (key, value) in lists.into_iter().chain([repetitions]) {
            header["plan"][key] = value;
        }
        line(out, header)?;
        let mut seq = 0_usize;
        for (id, bytes, samples) in self.cases(shape.cases) {
            let (first, others) = samples.split_at(1);
            let repetitions = first.iter().chain(others.iter().cycle()).zip(0..=shape.repetitions);
            for (sample, block) in repetitions {
                seq += 1;
                line(out, repeated(sample, &id, bytes, (block, seq)))?;
            }
        }
        let mut footer = self.footer.clone();
        let changed = [("samples", json!(seq)), ("seq", json!(seq + 1))];
        footer.extend(changed.map(|(key, value)| (key.to_owned(), value)));
        line(out, footer)
    }
}

/// Returns `sample` as the run of another case in `block`, and as line `seq`. It counts as valid, even if it was
/// disturbed, except in block 0.
fn repeated(sample: &Object, id: &str, bytes: u64, (block, seq): (usize, usize)) -> Object {
    let mut sample = sample.clone();
    let changed = [
        ("seq", json!(seq)),
        ("case_id", json!(id)),
        ("run_id", json!(format!("{block}.{id}.1"))),
        ("buffer_bytes", json!(bytes)),
        ("repetition", json!(block)),
        ("block", json!(block)),
    ];
    sample.extend(changed.map(|(key, value)| (key.to_owned(), value)));
    if block > 0 {
        sample.insert("excluded".to_owned(), json!(null));
    }
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
{"kind":"sample","case_id":"a/64","block":0,"buffer_bytes":64,"elapsed_ns":1,"excluded":"first"}
{"kind":"sample","case_id":"b/64","block":0,"buffer_bytes":64,"elapsed_ns":1,"excluded":"first"}
{"kind":"sample","case_id":"a/64","block":1,"buffer_bytes":64,"elapsed_ns":2}
{"kind":"sample","case_id":"b/64","block":1,"buffer_bytes":64,"elapsed_ns":3,"excluded":"disturbed"}
{"kind":"footer","samples":4}
"#;

    #[test]
    fn a_few_samples_make_many_cases() {
        let (small, mut out) = (SmallFile::read(SMALL).unwrap(), Vec::new());
        small.expand(FileShape { cases: 3, repetitions: 2 }, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<Object> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert!(text.lines().all(|line| line.starts_with("{\"kind\":\"")));
        assert_eq!(lines[0]["plan"]["cases"], json!(["a/64", "b/64", "a/65"]));
        let told: Vec<_> = lines[1..10].iter().map(|l| (&l["case_id"], &l["elapsed_ns"])).collect();
        let (a, b, c) = (&json!("a/64"), &json!("b/64"), &json!("a/65"));
        let (one, two, three) = (&json!(1), &json!(2), &json!(3));
        let of_a = [(a, one), (a, two), (a, two)];
        let of_b = [(b, one), (b, three), (b, three)];
        let of_c = [(c, one), (c, two), (c, two)];
        assert_eq!(told, [of_a, of_b, of_c].concat());
        for (line, seq) in lines[1..].iter().zip(1..) {
            assert_eq!(line["seq"], json!(seq));
        }
        for line in &lines[1..10] {
            assert_eq!(line["excluded"].is_null(), line["block"] != json!(0));
        }
        assert_eq!(lines[10]["samples"], json!(9));
    }
}
