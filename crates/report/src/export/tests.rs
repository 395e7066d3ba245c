//! What is exported, read back: every number must be the one that was exported, to the last bit, and
//! every text the same, whatever is in it.

use std::collections::BTreeMap;

use ipcperf_model::instrument::profile::{Row, Stack};
use ipcperf_model::observation::Observation;
use ipcperf_model::workload::Kind;
use ipcperf_results::testing::sample;
use ipcperf_results::testing::summarised;
use ipcperf_results::{ObservationRecord, RefusedRecord, Sample};
use serde_json::Value;

use super::*;

/// Everything that is markup, or a separator, or a formula, somewhere.
const HOSTILE: &str =
    "=cmd|' /C calc'!A0, \"a\"\nb|c <script>x</script> @d `e` _f_ [g](h) \\| &amp; %";

/// The way back of each format: what was written, and what it was made from.
type Check = fn(&str, &[Summarised]);
const CHECKS: [(&str, Check); 6] = [
    ("csv", check_csv),
    ("csv-runs", check_csv_runs),
    ("json", check_json),
    ("markdown", check_markdown),
    ("benchstat", check_benchstat),
    ("folded", check_folded),
];

#[test]
fn every_exporter_gives_back_what_it_was_given() {
    let files = [measured("one.jsonl", 1), measured(HOSTILE, 7)];
    assert!(files[0].summaries.len() > 8);
    for exporter in EXPORTERS {
        let check = CHECKS.iter().find(|(name, _)| *name == exporter.name);
        let (_, check) = check.unwrap_or_else(|| panic!("no way back from {}", exporter.name));
        check(&written(exporter, &files), &files);
    }
}

#[test]
fn a_file_of_nothing_can_be_exported() {
    let files = [summarised("empty.jsonl", Vec::new(), Vec::new())];
    for exporter in EXPORTERS {
        let text = written(exporter, &files);
        // Stacks stand without a head.
        assert_eq!(text.is_empty(), exporter.name == "folded", "{}", exporter.name);
    }
    // The columns do not depend on what was measured.
    let (empty, full) =
        (written(&csv::EXPORTER, &files), written(&csv::EXPORTER, &[measured("a", 1)]));
    let head = |text: &str| text.lines().next().unwrap().replace("sender_cpu", "").len();
    assert!(head(&empty) > 500 && head(&full) > head(&empty));
    assert!(full.starts_with("file,case_id,mechanism,"), "{full}");
}

#[test]
fn names_are_unique_and_an_unknown_one_gets_the_nearest() {
    assert!(find("csv-rusn").unwrap_err().to_string().contains("did you mean `csv-runs`?"));
    assert!(find("parquet").unwrap_err().to_string().contains("benchstat"));
    for exporter in EXPORTERS {
        assert_eq!(find(exporter.name).unwrap().about, exporter.about);
    }
}

fn written(exporter: &Exporter, files: &[Summarised]) -> String {
    let mut text = Vec::new();
    (exporter.write)(files, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// Streams and round trips on one CPU and two, at two distances, with losses, options, roles, what
/// was set aside and what was refused. `factor` makes figures that no short decimal number is.
fn measured(path: &str, factor: u64) -> Summarised {
    let mut samples = Vec::new();
    for (place, mechanism) in (3..).zip(["pipe", "unix-stream-named", "udp", "null"]) {
        for kind in [Kind::Stream, Kind::RoundTrip] {
            for block in 0..12_u32 {
                let ns = place * factor * (10_000_019 + u64::from(block) * 77_773);
                let mut sample = planted(mechanism, kind, block, ns);
                sample.run.run_id = samples.len().to_string();
                samples.push(sample);
            }
        }
    }
    let refused = RefusedRecord { case: samples[0].run.case.clone(), reason: HOSTILE.to_owned() };
    let seen = samples.iter().zip(1..).map(|(sample, number)| stack(sample, number * factor));
    let seen = seen.collect();
    let mut file = summarised(path, samples, vec![refused]);
    file.results.observations = seen;
    file
}

/// What the profile saw of a run.
fn stack(run: &Sample, samples: u64) -> ObservationRecord {
    let row = Row::Stack(Stack { stack: "sender;write;Vec<[u8; 4]>\nx_[k]".to_owned(), samples });
    let told = Observation::of(Some("sender"), &row);
    ObservationRecord::of(&run.run.run_id, "profile", told)
}

fn planted(mechanism: &str, kind: Kind, block: u32, elapsed_ns: u64) -> Sample {
    let mut sample = sample(mechanism, kind, 4096, block, elapsed_ns);
    sample.messages = 999;
    sample.roles.insert("sender_cpu_ns".to_owned(), Some(elapsed_ns / 3));
    sample.roles.insert("receiver_cpu_ns".to_owned(), Some(elapsed_ns / 7));
    if mechanism == "unix-stream-named" {
        sample.run.case.case_id += "/address";
        sample.run.case.options.insert("address".to_owned(), HOSTILE.to_owned());
    }
    if mechanism == "udp" {
        sample.lost_messages = Some(u64::from(block));
    }
    if mechanism == "pipe" {
        sample.cpu_pair_class =
            Some(if block.is_multiple_of(3) { "52ns" } else { "283ns" }.to_owned());
        sample.cacheline_round_trip_ns = Some(283.22875 + f64::from(block) / 3.0);
    }
    sample
}

/// A sheet as anyone reads it, but that texts lose the mark that says they are no formula.
struct Sheet {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Sheet {
    fn read(text: &str) -> Self {
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let head = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let rows = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect());
        Self { head, rows: rows.collect() }
    }

    fn text(&self, row: usize, column: &str) -> &str {
        let place = self.head.iter().position(|name| name == column);
        let text = &self.rows[row][place.unwrap_or_else(|| panic!("no column {column}"))];
        text.strip_prefix('\'').unwrap_or(text)
    }

    fn number(&self, row: usize, column: &str) -> Option<f64> {
        let text = self.text(row, column);
        (!text.is_empty()).then(|| text.parse().unwrap())
    }

    /// Each of the numbers in `object` is in `row`, under its key; so is what is missing.
    fn assert_holds(&self, row: usize, object: &Value, prefix: &str) {
        for (key, value) in object.as_object().unwrap() {
            let column = format!("{prefix}{key}");
            match value {
                Value::Number(number) => {
                    assert_eq!(self.number(row, &column), number.as_f64(), "{column}");
                }
                Value::Object(_) if key == "options" => {}
                Value::Object(_) if key == "roles" => self.assert_holds(row, value, ""),
                Value::Object(_) => self.assert_holds(row, value, &format!("{column}_")),
                Value::String(text) => assert_eq!(self.text(row, &column), text),
                _ => {}
            }
        }
    }
}

/// No cell starts as a formula does.
fn assert_harmless(sheet: &Sheet) {
    let formulas =
        sheet.rows.iter().flatten().filter(|cell| cell.starts_with(['=', '+', '-', '@']));
    assert_eq!(formulas.count(), 0);
}

fn check_csv(text: &str, files: &[Summarised]) {
    let sheet = Sheet::read(text);
    assert_harmless(&sheet);
    let rows: Vec<_> = json::rows(files).collect();
    assert_eq!(sheet.rows.len(), rows.len());
    for (place, row) in rows.iter().enumerate() {
        sheet.assert_holds(place, &serde_json::to_value(row).unwrap(), "");
        let ends = row.summary.median_interval;
        let read = ["median_interval_low", "median_interval_high"].map(|c| sheet.number(place, c));
        assert_eq!(read, ends.map_or([None; 2], |ends| ends.map(Some)));
        if let Some(options) = row.summary.case.options.get("address") {
            assert_eq!(sheet.text(place, "options"), format!("address={options}"));
        }
    }
    assert_eq!(sheet.text(sheet.rows.len() - 1, "refused"), HOSTILE);
}

fn check_csv_runs(text: &str, files: &[Summarised]) {
    let sheet = Sheet::read(text);
    assert_harmless(&sheet);
    let samples: Vec<&Sample> = files.iter().flat_map(|file| &file.results.samples).collect();
    assert_eq!(sheet.rows.len(), samples.len());
    for (place, sample) in samples.into_iter().enumerate() {
        let mut object = serde_json::to_value(sample).unwrap();
        object.as_object_mut().unwrap().remove("round_trip_histogram");
        sheet.assert_holds(place, &object, "");
        assert_eq!(sheet.text(place, "cpus"), "0 0");
    }
}

fn check_json(text: &str, files: &[Summarised]) {
    let read: Vec<Value> = serde_json::from_str(text).unwrap();
    let wanted: Vec<Value> =
        json::rows(files).map(|row| serde_json::to_value(row).unwrap()).collect();
    assert_eq!(read, wanted);
    assert_eq!(read[read.len() - 1]["file"], HOSTILE);
}

/// The cells of a row of a Markdown table, as they are shown.
fn markdown_cells(line: &str) -> Vec<String> {
    let (mut cells, mut letters) = (vec![String::new()], line.chars().skip(1));
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => cells.last_mut().unwrap().extend(letters.next()),
            '|' => cells.push(String::new()),
            _ => cells.last_mut().unwrap().push(letter),
        }
    }
    cells.pop();
    let plain = |cell: &String| {
        let cell = cell.trim().replace("<br>", "\n").replace("&lt;", "<").replace("&gt;", ">");
        cell.replace("&amp;", "&")
    };
    cells.iter().map(plain).collect()
}

/// The rows of the exact figures. Every table must have a blank line before it, or is none.
fn exact_rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut is_exact, mut before) = (Vec::new(), false, "");
    for line in text.lines() {
        let is_first = line.starts_with('|') && !before.starts_with('|');
        assert!(!is_first || before.is_empty(), "no blank line before {line}");
        is_exact = (is_exact && !line.is_empty()) || line.starts_with("| case | class |");
        if is_exact && !line.starts_with("| case") && !line.starts_with("| :--") {
            rows.push(markdown_cells(line));
        }
        before = line;
    }
    rows
}

fn check_markdown(text: &str, files: &[Summarised]) {
    let ours = ["<br>", "<details>", "</details>", "<summary>Exact figures</summary>"];
    let plain = ours.iter().fold(text.to_owned(), |text, tag| text.replace(tag, ""));
    assert!(!plain.contains(['<', '>']), "{plain}");
    let (read, figures) = (exact_rows(text), files.iter().flat_map(|file| &file.summaries));
    let figures: Vec<_> = figures.filter_map(|case| Some((case, case.main()?.spread()))).collect();
    assert_eq!(read.len(), figures.len());
    for (cells, (case, spread)) in read.iter().zip(figures) {
        assert_eq!((&cells[0], cells.len()), (&case.case.case_id, 9));
        let ends = case.median_interval.into_iter().flatten();
        #[allow(clippy::cast_precision_loss, reason = "a count")]
        let half = spread.middle_half().into_iter().flatten();
        let wanted =
            std::iter::once(spread.median).chain(half).chain([spread.n as f64]).chain(ends);
        let numbers = cells[3..].iter().filter(|cell| !cell.is_empty());
        assert!(numbers.map(|cell| cell.parse::<f64>().unwrap()).eq(wanted), "{cells:?}");
    }
    let shown: Vec<String> = text.lines().flat_map(markdown_cells).collect();
    assert!(shown.contains(&format!("unix-stream-named address={HOSTILE}")), "{text}");
}

/// A line of Go's benchmark format: its name, its count, and each value behind its unit.
type Benchmark<'a> = (&'a str, u64, Vec<(&'a str, &'a str)>);

fn benchmark(line: &str) -> Option<Benchmark<'_>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, rest) = words.split_first().filter(|(name, _)| name.starts_with("Benchmark"))?;
    let values = rest[1..].chunks(2).map(|pair| (pair[1], pair[0])).collect();
    Some((name, rest[0].parse().unwrap(), values))
}

fn check_benchstat(text: &str, files: &[Summarised]) {
    for key in ["goos: linux\n", "goarch: ", "pkg: ipcperf\n", "cpu: ", "file: one.jsonl\n"] {
        assert!(text.contains(key), "no {key}");
    }
    let read: Vec<_> = text.lines().filter_map(benchmark).collect();
    let kept = files.iter().flat_map(|file| &file.results.samples);
    let kept: Vec<&Sample> = kept.filter(|sample| sample.set_aside.is_none()).collect();
    assert_eq!(read.len(), kept.len());
    for ((name, messages, values), sample) in read.into_iter().zip(kept) {
        assert_eq!(messages, sample.messages, "{name}");
        let value = |unit: &str| {
            let found = values.iter().find(|(known, _)| *known == unit);
            found.map(|(_, value)| value.parse::<f64>().unwrap())
        };
        #[allow(clippy::cast_precision_loss, reason = "as it was written")]
        let mean = sample.round_trip_ns_mean.unwrap_or(sample.elapsed_ns as f64 / messages as f64);
        assert_eq!(value("ns/op"), Some(mean), "{name}");
        assert_eq!(value("cacheline-ns"), sample.cacheline_round_trip_ns);
        let megabytes = values.iter().find(|(unit, _)| *unit == "MB/s");
        let bytes = megabytes.map(|(_, value)| value.replace('.', "").parse().unwrap());
        assert_eq!(bytes, sample.bandwidth_bytes_per_s, "{name}");
        assert_eq!(name.contains("/cpus="), sample.cpu_pair_class.is_some(), "{name}");
        assert!(name.ends_with("-1") && name.matches('/').count() < 8, "{name}");
    }
    assert!(text.contains("BenchmarkUnixStreamNamed/workload=stream/mode=2proc/"), "{text}");
}

fn check_folded(text: &str, files: &[Summarised]) {
    let mut wanted: BTreeMap<String, u64> = BTreeMap::new();
    for file in files {
        let seen = file.results.samples.iter().zip(&file.results.observations);
        for (sample, seen) in seen.filter(|(sample, _)| sample.set_aside.is_none()) {
            let name = sample.run.case.case_id.replace(';', ":");
            let samples = seen.fields["samples"].as_u64().unwrap();
            *wanted.entry(format!("{name};sender;write;Vec<[u8; 4]>?x_[k]")).or_default() +=
                samples;
        }
    }
    let line = |line: &str| {
        let (stack, samples) = line.rsplit_once(' ').unwrap();
        (stack.to_owned(), samples.parse::<u64>().unwrap())
    };
    assert_eq!(text.lines().map(line).collect::<BTreeMap<_, _>>(), wanted);
}
