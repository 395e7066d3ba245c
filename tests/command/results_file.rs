//! The results file: its order, its counts and the published schema.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::results::{ResultsFile, lines, number, text};
use crate::sandbox::Sandbox;

/// Six cases.
const CASES: &str = "-m null,pipe,udp -w stream,round-trip -b 64 --total 6400";

fn measured(sandbox: &Sandbox, arguments: &str) -> ResultsFile {
    sandbox.finish(sandbox.measuring(arguments)).expect(0);
    ResultsFile::read(&sandbox.results())
}

#[test]
fn the_header_comes_first_and_the_footer_last() {
    let sandbox = Sandbox::open();
    let file = measured(&sandbox, &format!("{CASES} --repetitions 2 --seed 7"));
    let all = lines(&sandbox.results());
    let kinds: Vec<&str> = all.iter().map(|line| text(line, "kind")).collect();
    assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("header", "footer"));
    assert!(kinds[1..kinds.len() - 1].iter().all(|&kind| kind == "sample"), "{kinds:?}");
    assert_eq!(number(&file.header, "schema"), 2);
    assert_eq!(number(&file.header, "seed"), 7);
    assert_eq!(number(&file.footer, "samples"), 18);
    assert_eq!(number(&file.footer, "failures"), 0);
    assert_eq!(file.footer["complete"], true);
}

#[test]
fn each_block_holds_each_case_once_and_the_first_is_set_aside() {
    let sandbox = Sandbox::open();
    let file = measured(&sandbox, &format!("{CASES} --repetitions 3"));
    let mut blocks: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for sample in &file.samples {
        let block = number(sample, "block");
        blocks.entry(block).or_default().push(text(sample, "case_id"));
        assert_eq!(sample["excluded"] == "first", block == 0, "{sample}");
        assert_eq!(number(sample, "repetition"), block);
    }
    let planned: BTreeSet<&str> =
        file.header["plan"]["cases"].as_array().unwrap().iter().flat_map(Value::as_str).collect();
    assert_eq!(blocks.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 3]);
    for cases in blocks.values() {
        assert_eq!(cases.len(), planned.len());
        assert_eq!(cases.iter().copied().collect::<BTreeSet<_>>(), planned);
    }
    let ordered = file.samples.iter().map(|sample| number(sample, "block"));
    assert!(ordered.is_sorted(), "blocks run one after another");
}

#[test]
fn every_run_has_a_name_of_its_own() {
    let sandbox = Sandbox::open();
    let file = measured(&sandbox, &format!("{CASES} --repetitions 3"));
    let names: BTreeSet<&str> = file.samples.iter().map(|run| text(run, "run_id")).collect();
    assert_eq!(names.len(), file.samples.len());
}

fn order(sandbox: &Sandbox, seed: u64) -> Vec<String> {
    let file = measured(sandbox, &format!("{CASES} --repetitions 3 --seed {seed}"));
    file.samples.iter().map(|sample| text(sample, "case_id").to_owned()).collect()
}

#[test]
fn a_seed_gives_its_order_again_and_another_seed_another() {
    let sandbox = Sandbox::open();
    let first = order(&sandbox, 1);
    assert_eq!(first, order(&sandbox, 1));
    assert_ne!(first, order(&sandbox, 2));
}

#[test]
fn what_a_run_yields_fits_together() {
    let sandbox = Sandbox::open();
    let arguments = "-m pipe -w stream,round-trip -b 1000 --total 100500 --repetitions 1";
    for sample in measured(&sandbox, arguments).samples {
        let is_stream = sample["workload"] == "stream";
        assert_eq!(number(&sample, "messages"), 101);
        assert_eq!(number(&sample, "total_bytes"), if is_stream { 100_500 } else { 101_000 });
        assert_eq!(sample["bandwidth_bytes_per_s"].is_null(), !is_stream, "{sample}");
        assert_eq!(sample["round_trip_ns_p50"].is_null(), is_stream, "{sample}");
        if !is_stream {
            assert_ordered_percentiles(&sample);
        }
    }
}

fn assert_ordered_percentiles(sample: &Value) {
    let keys = ["p50", "p90", "p99", "p999", "max"];
    let values = keys.map(|key| number(sample, &format!("round_trip_ns_{key}")));
    assert!(values.is_sorted(), "{values:?}");
    let mean = sample["round_trip_ns_mean"].as_f64().expect("a mean");
    let elapsed_ns = sample["elapsed_ns"].as_f64().expect("a time");
    assert!((mean * 101.0 - elapsed_ns).abs() < 1.0, "{sample}");
}

#[test]
fn a_run_without_a_total_lasts_at_least_sixteen_milliseconds() {
    let sandbox = Sandbox::open();
    let arguments = "-m pipe,unix-stream -w stream,round-trip -b 64,64KiB --repetitions 1";
    for sample in measured(&sandbox, arguments).samples {
        assert!(number(&sample, "elapsed_ns") >= 16_000_000, "{sample}");
        assert!(number(&sample, "calibration_phases") > 0, "{sample}");
    }
}

/// Every kind of line, from runs that succeed, fail, are refused, are calibrated, or stop by a stopping rule.
#[test]
fn every_line_is_as_the_published_schema_says() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.schema.json");
    let schema = std::fs::read_to_string(schema).expect("the published schema");
    let schema: Value = serde_json::from_str(&schema).expect("a JSON object");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let sandbox = Sandbox::open();
    let mut written = Vec::new();
    for rest in ["-b 64,70000", "-b 10000 --placement free --kernel-buffer match,4096"] {
        let all = format!("-m all -w stream,round-trip --total 140000 --repetitions 1 {rest}");
        sandbox.finish(sandbox.measuring(&all)).expect(0);
        written.extend(lines(&sandbox.results()));
    }
    let failing = "-m pipe -b 64 --total 1000000GB --timeout 0.1 --repetitions 1";
    sandbox.finish(sandbox.measuring(failing)).expect(4);
    assert_eq!(ResultsFile::read(&sandbox.results()).failure_kinds(), ["timeout"; 2]);
    written.extend(lines(&sandbox.results()));
    let calibrated = "-m pipe -b 4KiB --until-ci 50 --max-repetitions 10";
    sandbox.finish(sandbox.measuring(calibrated)).expect(0);
    written.extend(lines(&sandbox.results()));
    for line in &written {
        let errors: Vec<String> = validator.iter_errors(line).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?} in {line}");
    }
    assert_schema_refuses(&validator, &written[1]);
}

/// Checks that the schema refuses wrong values: one that accepts everything would prove nothing.
fn assert_schema_refuses(validator: &jsonschema::Validator, sample: &Value) {
    assert_eq!(sample["kind"], "sample");
    for (key, wrong) in [
        ("kind", Value::from("unheard-of")),
        ("elapsed_ns", Value::from("soon")),
        ("case_id", Value::Null),
        ("block", Value::from(-1)),
    ] {
        let mut changed = sample.clone();
        changed[key] = wrong;
        assert!(!validator.is_valid(&changed), "{key}");
    }
}
