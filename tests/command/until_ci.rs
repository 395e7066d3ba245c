//! `--until-ci`: repeats until each median has the requested precision or a maximum is reached.

use serde_json::Value;

use crate::complete_file::assert_whole;
use crate::mistakes::refused;
use crate::results::{ResultsFile, number};
use crate::sandbox::{Sandbox, with_time};

/// A precision that no machine reaches.
const UNREACHABLE: &str = "--until-ci 0.000001";

/// Runs the cases and returns the printed summaries and the file.
fn measured(sandbox: &Sandbox, arguments: &str) -> (Vec<Value>, ResultsFile) {
    let out = sandbox.results();
    let arguments = with_time(&format!("run {arguments} --json --out {}", out.display()));
    let finished = sandbox.run(&arguments).expect(0);
    (serde_json::from_str(&finished.stdout).expect("an array"), assert_whole(&out))
}

/// Returns the number of blocks, without the first, which is excluded.
fn last_block(file: &ResultsFile) -> u64 {
    file.samples.iter().map(|sample| number(sample, "block")).max().expect("samples")
}

#[test]
fn flags_that_contradict_or_lack_each_other_are_refused() {
    refused("run -m pipe --until-ci 2 --repetitions 20", &["--until-ci", "--repetitions"]);
    refused("run -m pipe --max-repetitions 20", &["--max-repetitions requires --until-ci PCT"]);
    refused("run -m pipe --max-time 20", &["--max-time requires --until-ci PCT"]);
    for percent in ["0", "-1", "100", "NaN", "inf", "little"] {
        refused(&format!("run -m pipe --until-ci {percent}"), &["--until-ci"]);
    }
    for most in ["0", "9", "-1", "many"] {
        let arguments = format!("run -m pipe --until-ci 2 --max-repetitions {most}");
        refused(&arguments, &["--max-repetitions"]);
    }
    for most in ["0", "-1", "NaN", "inf", "1e99"] {
        let arguments = format!("run -m pipe --until-ci 2 --max-time {most}");
        refused(&arguments, &["--max-time"]);
    }
    refused("run -m pipe --attempts 0", &["--attempts", "at least 1"]);
}

#[test]
fn the_plan_says_until_when() {
    let sandbox = Sandbox::open();
    let arguments = "plan -m pipe -b 64 --until-ci 2.5 --max-repetitions 40 --max-time 0.5min";
    let table = sandbox.run(arguments).expect(0).stdout;
    for word in ["until the precision of each median is ±2.5 %", "40 repetitions", "30 s"] {
        assert!(table.contains(word), "no `{word}`: {table}");
    }
    let planned = sandbox.run(&format!("{arguments} --json")).expect(0);
    let plan: Value = serde_json::from_str(&planned.stdout).expect("one object");
    assert_eq!(plan["until_ci"]["half_width"], 0.025);
    assert_eq!(plan["until_ci"]["max_repetitions"], 40);
    assert_eq!((number(&plan, "repetitions"), number(&plan, "runs")), (10, 11), "the least");
}

#[test]
fn each_case_stops_where_it_is_known_or_capped() {
    let sandbox = Sandbox::open();
    let arguments = "-m null,pipe -b 64 --total 64kB --until-ci 30 --max-repetitions 30 \
        --max-time 36000";
    let (summaries, file) = measured(&sandbox, arguments);
    assert_eq!(summaries.len(), 2);
    for summary in summaries {
        let figure = ["bandwidth_bytes_per_s", "ns_per_message"].map(|key| &summary[key]);
        let figure = figure.into_iter().find(|figure| figure.is_object()).expect("a figure");
        let median = figure["median"].as_f64().expect("a median");
        let [low, high] = interval(&summary);
        assert!(low <= median && median <= high, "{summary}");
        let is_known = (high - low) / 2.0 <= 0.3 * median;
        let of_case = |sample: &&Value| sample["case_id"] == summary["case_id"];
        let blocks = file.samples.iter().filter(of_case).map(|sample| number(sample, "block"));
        let last = blocks.max().expect("samples");
        assert!(last >= 10 && (is_known || last == 30), "{last} repetitions: {summary}");
    }
}

fn interval(summary: &Value) -> [f64; 2] {
    let ends = summary["median_interval"].as_array().expect("an interval");
    let ends: Vec<f64> = ends.iter().flat_map(Value::as_f64).collect();
    ends.try_into().expect("two ends")
}

#[test]
fn repetitions_are_capped() {
    let sandbox = Sandbox::open();
    let arguments = format!(
        "-m pipe,tcp -b 64 --total 64kB {UNREACHABLE} --max-repetitions 12 --max-time 36000"
    );
    let (summaries, file) = measured(&sandbox, &arguments);
    assert_eq!(last_block(&file), 12);
    assert!(summaries.iter().all(|summary| summary["median_interval"].is_array()));
    let shown = sandbox.run(&format!("show {}", sandbox.results().display())).expect(0);
    for words in [
        "0 of 2 medians have reached a precision",
        "within the maximum number of repetitions or time",
    ] {
        assert!(shown.stdout.contains(words), "no `{words}`: {}", shown.stdout);
    }
}

#[test]
fn time_is_capped_but_every_case_gets_the_least() {
    let sandbox = Sandbox::open();
    let arguments = format!("-m pipe,tcp -b 64 --total 6400 {UNREACHABLE} --max-time 0.001");
    let (_, file) = measured(&sandbox, &arguments);
    assert_eq!(last_block(&file), 10);
}
