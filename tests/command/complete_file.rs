//! Invariants of a complete results file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::results::{ResultsFile, lines, number, text};

/// Attempts at one case in one block.
type Repetitions<'a> = BTreeMap<(u64, &'a str), Vec<&'a Value>>;

/// Checks that the file at `path` is complete: every case has a run in every block of the plan, attempts are numbered
/// without gaps or duplicates, and only the last attempt may be valid.
pub(crate) fn assert_whole(path: &Path) -> ResultsFile {
    let file = assert_consistent(path);
    assert_eq!(file.footer["complete"], true, "{}", file.footer);
    let (planned, runs) = (planned(&file), runs(path));
    let made: BTreeSet<(u64, &str)> = repetitions(&runs).into_keys().collect();
    if file.header["plan"]["until_ci"].is_null() {
        assert_eq!(made, planned);
    } else {
        assert!(made.is_superset(&planned), "the least: {made:?}");
    }
    file
}

/// Like [`assert_whole`], but runs may be missing.
pub(crate) fn assert_consistent(path: &Path) -> ResultsFile {
    let file = ResultsFile::read(path);
    let last = lines(path).pop().expect("a line");
    assert_eq!(last, file.footer, "the footer ends the file");
    assert_eq!(number(&file.footer, "samples"), file.samples.len() as u64);
    assert_eq!(number(&file.footer, "failures"), file.failures.len() as u64);
    let runs = runs(path);
    let names: BTreeSet<&str> = runs.iter().map(|run| text(run, "run_id")).collect();
    assert_eq!(names.len(), runs.len(), "run_ids are unique");
    assert!(
        runs.iter().map(run_position).is_sorted(),
        "blocks run one after another, in their order"
    );
    for attempts in repetitions(&runs).values() {
        assert_attempts(attempts, &file);
    }
    file
}

/// Returns samples and failures, in file order.
fn runs(path: &Path) -> Vec<Value> {
    let is_run = |line: &Value| line["kind"] == "sample" || line["kind"] == "failure";
    lines(path).into_iter().filter(is_run).collect()
}

/// Returns block, position and attempt, which make up the ID of a run.
fn run_position(run: &Value) -> Vec<u64> {
    text(run, "run_id").split('.').map(|part| part.parse().expect("a number")).collect()
}

fn planned(file: &ResultsFile) -> BTreeSet<(u64, &str)> {
    let plan = &file.header["plan"];
    let cases = plan["cases"].as_array().expect("the cases").iter().flat_map(Value::as_str);
    let blocks = 0..=number(plan, "repetitions");
    cases.flat_map(|case| blocks.clone().map(move |block| (block, case))).collect()
}

fn repetitions(runs: &[Value]) -> Repetitions<'_> {
    let mut repetitions = Repetitions::new();
    for run in runs {
        let key = (number(run, "block"), text(run, "case_id"));
        repetitions.entry(key).or_default().push(run);
    }
    repetitions
}

/// Checks that attempts are numbered from 1 and that each but the last was disturbed. The last may be disturbed only if
/// no more attempts were allowed.
fn assert_attempts(attempts: &[&Value], file: &ResultsFile) {
    let numbers = attempts.iter().map(|run| number(run, "attempt"));
    assert!(numbers.eq(1..=attempts.len() as u64), "{attempts:?}");
    let (last, before) = attempts.split_last().expect("at least one");
    assert!(before.iter().all(|run| was_disturbed(run)), "{before:?}");
    let most = number(&file.header["plan"], "attempts");
    assert!(attempts.len() as u64 <= most, "{attempts:?}");
    let is_last = file.footer["complete"] == false || attempts.len() as u64 == most;
    assert!(!was_disturbed(last) || is_last || retries_left(file) == 0, "{last}");
}

/// Whether the run is excluded for a reason other than being in the first block.
pub(crate) fn was_disturbed(run: &Value) -> bool {
    run["excluded"].as_str().is_some_and(|cause| cause != "first")
}

/// Returns the retries left: half of the runs may be retried, and always at least ten.
fn retries_left(file: &ResultsFile) -> u64 {
    let made = file.samples.iter().filter(|sample| number(sample, "attempt") > 1).count() as u64;
    let allowed = (planned(file).len() as u64 / 2).max(10);
    assert!(made <= allowed, "{made} repeats, {allowed} are allowed");
    allowed - made
}

/// Returns the cases in the order of their first attempts, block by block.
pub(crate) fn order(path: &Path) -> Vec<(u64, String)> {
    let firsts = runs(path).into_iter().filter(|run| run["attempt"] == 1);
    firsts.map(|run| (number(&run, "block"), text(&run, "case_id").to_owned())).collect()
}
