//! `--find-knee` from outside.

use std::collections::HashSet;

use rustix::process::Signal;
use serde_json::Value;

use crate::mistakes::refused;
use crate::processes::{signal, wait_for};
use crate::results::{ResultsFile, runs_recorded};
use crate::sandbox::{HANG, Sandbox};

/// A search of short runs. Any rate is decided soon: only saturation exceeds the bound.
const SEARCH: &str =
    "-m pipe -w paced -b 64 --find-knee --knee-p99 10s --duration 0.01 --repetitions 2";

/// Returns the summaries of the file of `sandbox`, those of the plan first.
fn summaries(sandbox: &Sandbox) -> Vec<Value> {
    let shown = sandbox.run(&format!("show --json {}", sandbox.results().display())).expect(0);
    assert!(!shown.stderr.contains("plan"), "{}", shown.stderr);
    serde_json::from_str(&shown.stdout).expect("an array")
}

/// Checks the only search of the file of `sandbox`, and returns how it ended.
fn checked_end(sandbox: &Sandbox) -> String {
    let all = summaries(sandbox);
    let [knee] = &all[0]["knees"].as_array().expect("knees")[..] else { panic!("{}", all[0]) };
    let rates = |cases: &[Value]| -> Vec<u64> {
        cases.iter().map(|case| case["rate_per_s"].as_u64().expect("a rate")).collect()
    };
    let steps = rates(knee["steps"].as_array().expect("steps"));
    assert!(steps.is_sorted() && !steps.is_empty(), "{knee}");
    let paced: HashSet<u64> = rates(&all[1..]).into_iter().collect();
    assert_eq!(paced, steps.into_iter().collect(), "every rate that was tried has a summary");
    if let (Some(low), Some(high)) = (knee["low_per_s"].as_u64(), knee["high_per_s"].as_u64()) {
        assert!(low < high, "{knee}");
    }
    knee["outcome"].as_str().expect("an outcome").to_owned()
}

/// The result depends on how busy the machine is. The search always ends.
#[test]
fn a_search_ends_and_its_file_shows_what_was_printed() {
    let sandbox = Sandbox::open();
    let ran = sandbox.finish(sandbox.measuring(SEARCH)).expect(0).stdout;
    assert!(ran.contains("Knee of the stream") && ran.contains("p99 bound"), "{ran}");
    assert_eq!(ran.lines().find(|line| line.chars().count() > 100), None, "{ran}");
    let shown = sandbox.run(&format!("show {}", sandbox.results().display())).expect(0).stdout;
    let table = |text: &str| text[text.find("Knee of").expect("a table")..].to_owned();
    assert_eq!(table(&ran).lines().nth(3), table(&shown).lines().nth(3));
    let end = checked_end(&sandbox);
    assert!(!["failed", "unfinished"].contains(&end.as_str()), "{end}");
}

#[test]
fn an_interrupted_search_is_resumed() {
    let sandbox = Sandbox::open();
    let command = sandbox.start(sandbox.measuring(SEARCH));
    wait_for("runs of the search", HANG, || (runs_recorded(&sandbox.results()) > 10).then_some(()));
    signal(command.id(), Signal::INT);
    let interrupted = command.finish(HANG).code() == Some(130);
    assert!(!interrupted || checked_end(&sandbox) == "unfinished");
    sandbox.run(&format!("resume {}", sandbox.results().display())).expect(0);
    assert_ne!(checked_end(&sandbox), "unfinished");
    let file = ResultsFile::read(&sandbox.results());
    let names: HashSet<String> =
        file.samples.iter().map(|sample| sample["run_id"].to_string()).collect();
    assert_eq!(names.len(), file.samples.len(), "no run has the name of another");
    assert_eq!(file.footer["complete"], true);
    sandbox.assert_nothing_left();
}

#[test]
fn a_plan_says_that_a_search_follows() {
    let sandbox = Sandbox::open();
    let planned =
        sandbox.run("plan -m pipe,fifo -b 64 --find-knee --arrivals even,poisson").expect(0);
    assert!(planned.stdout.contains("Then searches for 4 knees"), "{}", planned.stdout);
}

#[test]
fn mistakes_are_named() {
    refused("run -m pipe --find-knee --rate 1k", &["--find-knee cannot be combined with --rate"]);
    refused("run -m pipe --find-knee --total 1MiB", &["cannot be combined with --total"]);
    refused(
        "run -m pipe --find-knee --instrument sched",
        &["cannot be combined with --instrument"],
    );
    refused("run -m pipe --knee-p99 1ms", &["--knee-p99 requires --find-knee"]);
    refused("run -m pipe --rate 1k --knee-p99 1ms", &["--knee-p99 requires --find-knee"]);
    refused("run -m pipe --find-knee --knee-p99 0", &["--knee-p99 must be more than 0 s"]);
    refused("run -m null --find-knee", &["transfers nothing"]);
    refused("run -m udp -b 8 --find-knee", &["needs at least 16 bytes"]);
    refused("run -m pipe --find-knee --pacer spin", &["use --pacer sleep"]);
}
