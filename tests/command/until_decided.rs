//! `study run --until-decided`: decided cases are not repeated, undecided ones are, and `resume` follows the same rule.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::results::{ResultsFile, number, text};
use crate::sandbox::{Finished, Sandbox};

/// One hypothesis that is rejected on every machine, since a pipe takes about a hundred times as long as `null` (support
/// would be withheld if the few blocks happened to look dependent); one that ten repetitions cannot decide, since their
/// smallest p-value exceeds its alpha and both sides are about equally fast; and a size that only a figure needs.
const STUDY: &str = r#"
name = "decided"
title = "Something and nothing"
question = "Does a pipe cost more than nothing?"

[sampling]
repetitions = 10
attempts = 1
timeout = "10min"
seed = 3

[[matrix]]
name = "both"
mechanism = ["null", "pipe"]
buffer = "64"
total = "1MB"

[[matrix]]
name = "trips"
mechanism = "pipe"
workload = "round-trip"
buffer = "8,16,256"
messages = 50
as_published = { messages = 60 }

[[hypothesis]]
id = "H1"
claim = "Nothing costs more than a pipe."
test = "ratio-within"
metric = "ns_per_message"
where = { matrix = "both" }
first = { mechanism = "null" }
second = { mechanism = "pipe" }
above = 1.5

[[hypothesis]]
id = "H2"
claim = "A round trip of 8 bytes takes less time than one of 16."
test = "faster-than"
metric = "round_trip"
over = "mechanism"
where = { matrix = "trips" }
first = { buffer = "8" }
second = { buffer = "16" }
alpha = 0.0001
negligible = 0
"#;

fn run(sandbox: &Sandbox, arguments: &str) -> Finished {
    let mut command = sandbox.command(arguments);
    command.current_dir(sandbox.path(""));
    sandbox.finish(command)
}

fn measured(sandbox: &Sandbox) -> ResultsFile {
    fs::write(sandbox.path("study.toml"), STUDY).expect("a study");
    run(sandbox, "study run study.toml --until-decided --out results.jsonl").expect(0);
    ResultsFile::read(&sandbox.path("results.jsonl"))
}

/// Returns the last repetition of each buffer size, by mechanism and workload.
fn repetitions(file: &ResultsFile) -> BTreeMap<(String, u64), u64> {
    let mut last = BTreeMap::new();
    for sample in &file.samples {
        let what = format!("{} {}", text(sample, "mechanism"), text(sample, "workload"));
        let most = last.entry((what, number(sample, "buffer_bytes"))).or_insert(0);
        *most = number(sample, "block").max(*most);
    }
    last
}

#[test]
fn cases_are_repeated_as_long_as_a_claim_about_them_is_open() {
    let sandbox = Sandbox::open();
    let file = measured(&sandbox);
    assert_eq!(file.header["plan"]["until_decided"]["at_repetitions"], json!([7, 10]));
    assert_eq!(file.footer["complete"], true);
    let last = repetitions(&file);
    let of = |what: &str, bytes| last[&(what.to_owned(), bytes)];
    assert_eq!((of("null stream", 64), of("pipe stream", 64)), (7, 7), "decided at the first look");
    assert_eq!((of("pipe round-trip", 8), of("pipe round-trip", 16)), (10, 10), "open to the end");
    assert_eq!(of("pipe round-trip", 256), 7, "no claim is about it");
    let judged = run(&sandbox, "study judge results.jsonl --json").expect(0);
    let judged: Value = serde_json::from_str(&judged.stdout).expect("an array");
    assert_eq!(judged[0]["verdict"], "rejected", "{judged:#}");
    assert_eq!(judged[0]["at_look"]["repetitions"], 7, "{judged:#}");
    assert_eq!(judged[1]["verdict"], "inconclusive", "{judged:#}");
    assert_eq!(judged[1]["at_look"]["look"], 2, "{judged:#}");
    sandbox.assert_nothing_left();
}

#[test]
fn what_was_cut_off_is_resumed_by_the_same_rule() {
    let sandbox = Sandbox::open();
    let whole = measured(&sandbox);
    let path = sandbox.path("results.jsonl");
    let lines = fs::read_to_string(&path).expect("results");
    let is_early = |line: &&str| {
        let line: Value = serde_json::from_str(line).expect("a line");
        line["kind"] == "header" || line["block"].as_u64().is_some_and(|block| block < 9)
    };
    let early: Vec<&str> = lines.lines().filter(is_early).collect();
    fs::write(&path, early.join("\n") + "\n").expect("results");
    run(&sandbox, "resume results.jsonl").expect(0);
    let resumed = ResultsFile::read(&path);
    assert_eq!(repetitions(&resumed), repetitions(&whole));
    assert_eq!(resumed.samples.len(), whole.samples.len());
    assert_eq!(resumed.footer["complete"], true);
}

#[test]
fn the_plan_says_when_claims_are_judged_and_other_lengths_are_asked_for_by_name() {
    let sandbox = Sandbox::open();
    fs::write(sandbox.path("study.toml"), STUDY).expect("a study");
    let plan = run(&sandbox, "study plan study.toml --until-decided").expect(0);
    let words = plan.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("claims are judged after 7 and 10 repetitions"), "{}", plan.stdout);
    for (flag, bytes) in [("", 400), ("--as-published", 480)] {
        let plan = run(&sandbox, &format!("study plan study.toml --json {flag}")).expect(0);
        let plan: Value = serde_json::from_str(&plan.stdout).expect("a plan");
        let specs = plan["specs"].as_array().expect("specs");
        assert!(specs.iter().any(|one| one["spec"]["total_bytes"] == bytes), "{flag}: {specs:#?}");
    }
    run(&sandbox, "study run study.toml --quick --as-published").expect(2);
    let ci = STUDY.replace("repetitions = 10", "until_ci = 5");
    fs::write(sandbox.path("study.toml"), ci).expect("a study");
    let refused = run(&sandbox, "study plan study.toml --until-decided").expect(2);
    assert!(refused.stderr.contains("until_ci"), "{}", refused.stderr);
}
