//! Tests that read each export back with the check of its format: every number must be identical to the last bit, and
//! every text the same, whatever it contains.

use ipcperf_model::instrument::profile::{ProfileRow, Stack};
use ipcperf_model::observation::Observation;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{PeerMeasurement, Role, RoleUsage};
use ipcperf_results::testing::{analyzed_file, round_trips, sample};
use ipcperf_results::{ObservationRecord, PeerRecord, RefusedRecord, Sample};
use serde_json::Value;

use super::*;

/// Characters that are markup, separators or formulas in some format.
pub(super) const HOSTILE: &str =
    "=cmd|' /C calc'!A0, \"a\"\nb|c <script>x</script> @d `e` _f_ [g](h) \\| &amp; %";

#[test]
fn every_exporter_gives_back_what_it_was_given() {
    let files = [file_with_everything("one.jsonl", 1), file_with_everything(HOSTILE, 7)];
    assert!(files[0].summaries.len() > 8);
    for exporter in EXPORTERS {
        (exporter.check)(&written(exporter, &files), &files);
    }
}

#[test]
fn a_file_of_nothing_can_be_exported() {
    let files = [analyzed_file("empty.jsonl", Vec::new(), Vec::new())];
    for exporter in EXPORTERS {
        (exporter.check)(&written(exporter, &files), &files);
    }
    // The columns do not depend on the data.
    let (empty, full) =
        (written(&csv::EXPORTER, &files), written(&csv::EXPORTER, &[file_with_everything("a", 1)]));
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

fn written(exporter: &Exporter, files: &[AnalyzedFile]) -> String {
    let mut text = Vec::new();
    (exporter.write)(files, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// Returns streams and round trips on one and two CPUs, at two distances, with losses, options, roles, excluded runs
/// and refused cases. `factor` produces numbers without a short decimal form.
fn file_with_everything(path: &str, factor: u64) -> AnalyzedFile {
    let mut samples = Vec::new();
    for (place, mechanism) in (3..).zip(["pipe", "unix-stream-named", "udp", "null"]) {
        for kind in [WorkloadKind::Stream, WorkloadKind::RoundTrip] {
            for block in 0..12_u32 {
                let ns = place * factor * (10_000_019 + u64::from(block) * 77_773);
                let mut sample = varied_sample(mechanism, kind, block, ns);
                sample.run.run_id = samples.len().to_string();
                samples.push(sample);
            }
        }
    }
    let refused = RefusedRecord::new(samples[0].run.case.clone(), None, HOSTILE.to_owned());
    let seen = samples.iter().zip(1..).map(|(sample, number)| stack(sample, number * factor));
    let seen = seen.collect();
    let mut file = analyzed_file(path, samples, vec![refused]);
    file.results.observations = seen;
    file.results.peers = file.results.samples.iter().map(peer).collect();
    file
}

/// Returns a peer of a run.
fn peer(run: &Sample) -> PeerRecord {
    let usage = RoleUsage {
        role: Role::Sender,
        user_ns: 0,
        system_ns: 0,
        minor_faults: 0,
        voluntary_switches: 3,
        involuntary_switches: 0,
        calls: None,
        short_writes: 0,
        short_reads: 0,
        cpu_ns: None,
        run_delay_ns: Some(run.elapsed_ns / 9),
    };
    let measured = PeerMeasurement {
        peer: run.run.block,
        cpu: None,
        elapsed_ns: run.elapsed_ns,
        messages: run.messages,
        usage,
        round_trips: Some(round_trips(&[run.elapsed_ns / 7])),
        latencies: None,
    };
    PeerRecord::new(&run.run, &measured)
}

/// Returns an observation of the profile for a run.
fn stack(run: &Sample, samples: u64) -> ObservationRecord {
    let row =
        ProfileRow::Stack(Stack { stack: "sender;write;Vec<[u8; 4]>\nx_[k]".to_owned(), samples });
    let observation = Observation::from_row(Some("sender"), &row);
    ObservationRecord::new(&run.run.run_id, "profile", observation)
}

fn varied_sample(mechanism: &str, kind: WorkloadKind, block: u32, elapsed_ns: u64) -> Sample {
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

/// A parsed CSV file. Texts have the mark against formulas removed.
pub(super) struct CsvTable {
    head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl CsvTable {
    pub(super) fn read(text: &str) -> Self {
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let head = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let rows = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect());
        Self { head, rows: rows.collect() }
    }

    pub(super) fn text(&self, row: usize, column: &str) -> &str {
        let place = self.head.iter().position(|name| name == column);
        let text = &self.rows[row][place.unwrap_or_else(|| panic!("no column {column}"))];
        text.strip_prefix('\'').unwrap_or(text)
    }

    pub(super) fn number(&self, row: usize, column: &str) -> Option<f64> {
        let text = self.text(row, column);
        (!text.is_empty()).then(|| text.parse().unwrap())
    }

    /// Checks that `row` contains each number of `object` under its key, and empty cells for missing ones.
    pub(super) fn assert_holds(&self, row: usize, object: &Value, prefix: &str) {
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

/// Checks that no cell starts like a formula.
pub(super) fn assert_no_formulas(sheet: &CsvTable) {
    let formulas =
        sheet.rows.iter().flatten().filter(|cell| cell.starts_with(['=', '+', '-', '@']));
    assert_eq!(formulas.count(), 0);
}
