//! `ipcperf export` and `--export`: files for other programs, tested from outside.

use std::fs;
use std::io::pipe;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use crate::mistakes::refused;
use crate::processes::{signal, wait_for};
use crate::results::{ResultsFile, runs_recorded};
use crate::sandbox::{HANG, Sandbox};

const CASES: &str = "-m null,pipe,udp -b 64,70000 --total 64000 --repetitions 2";

fn formats(sandbox: &Sandbox) -> Vec<String> {
    let listed = sandbox.run("list exporters --json").expect(0).stdout;
    let entries: Vec<Value> = serde_json::from_str(&listed).expect("an array");
    entries.iter().map(|entry| entry["name"].as_str().expect("a name").to_owned()).collect()
}

/// Returns `--export` for every format, each to a file named after it.
fn all(sandbox: &Sandbox, formats: &[String]) -> String {
    let export = |format| format!(" --export {format}={}", sandbox.path(format).display());
    formats.iter().map(|format| export(format)).collect()
}

#[test]
fn what_run_exports_is_what_export_makes_of_its_results() {
    let sandbox = Sandbox::open();
    let formats = formats(&sandbox);
    assert!(formats.len() >= 5, "{formats:?}");
    let arguments = format!("{CASES} -w stream,round-trip{}", all(&sandbox, &formats));
    let ran = sandbox.finish(sandbox.measuring(&arguments)).expect(0);
    for format in &formats {
        let path = sandbox.path(format);
        assert!(
            ran.stderr.contains(&format!("{format} written to {}", path.display())),
            "{}",
            ran.stderr
        );
        let written = fs::read_to_string(&path).expect("an export");
        let results = sandbox.results();
        let printed = sandbox.run(&format!("export {format} {}", results.display())).expect(0);
        assert_eq!(printed.stdout, written, "{format}");
        let again = sandbox.path("again");
        let arguments = format!("export {format} {} -o {}", results.display(), again.display());
        assert_eq!(sandbox.run(&arguments).expect(0).stdout, "");
        assert_eq!(fs::read_to_string(again).expect("an export"), written, "{format}");
    }
}

#[test]
fn several_files_stand_below_each_other_with_their_names() {
    let sandbox = Sandbox::open();
    sandbox.finish(sandbox.measuring(CASES)).expect(0);
    let (one, other) = (sandbox.results(), sandbox.path("other.jsonl"));
    fs::copy(&one, &other).expect("a copy");
    let both = format!("{} {}", one.display(), other.display());
    let csv = sandbox.run(&format!("export csv {both}")).expect(0).stdout;
    let json = sandbox.run(&format!("show --json {both}")).expect(0).stdout;
    let entries: Vec<Value> = serde_json::from_str(&json).expect("an array");
    assert_eq!(csv.matches("\r\n").count(), 1 + entries.len());
    for path in [one, other] {
        let path = path.display().to_string();
        assert_eq!(csv.matches(&format!("\r\n{path},")).count(), entries.len() / 2);
        assert_eq!(
            entries.iter().filter(|entry| entry["file"] == *path).count(),
            entries.len() / 2
        );
    }
}

#[test]
fn a_slip_is_told_before_anything_is_measured() {
    refused("export cvs x.jsonl", &["export format `cvs`", "did you mean `csv`?"]);
    refused("export parquet x.jsonl", &["expected one of", "csv-runs", "benchstat"]);
    refused("export csv", &["FILE"]);
    refused("export csv /nowhere/x.jsonl", &["/nowhere/x.jsonl"]);
    refused("run -m pipe --export csv", &["FORMAT=PATH", "`csv`"]);
    refused("run -m pipe --export csv=", &["FORMAT=PATH"]);
    refused("run -m pipe --export cvs=x.csv", &["did you mean `csv`?"]);
    refused("survey --export markdwon=x.md", &["did you mean `markdown`?"]);
    refused("run -m pipe --export csv=/tmp/x --export json=/tmp/./x", &["two --export options"]);
    refused("run -m pipe --out /tmp/x.jsonl --export csv=/tmp/../tmp/x.jsonl", &["results file"]);
}

#[test]
fn an_export_that_cannot_be_written_is_told() {
    let sandbox = Sandbox::open();
    for path in ["/nowhere/x.csv", "/sys/x.csv", "/"] {
        let arguments = format!("{CASES} --export csv={path}");
        let ended = sandbox.finish(sandbox.measuring(&arguments)).expect(5);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        assert!(ended.stderr.contains(&format!("cannot write {path}")), "{}", ended.stderr);
        assert!(!sandbox.results().exists(), "measured");
    }
    let full = sandbox.finish(sandbox.measuring(&format!("{CASES} --export csv=/dev/full")));
    assert!(full.expect(5).stderr.contains("cannot write /dev/full: No space left"));
    assert_eq!(ResultsFile::read(&sandbox.results()).footer["complete"], true);
    let results = sandbox.results();
    let full = sandbox.run(&format!("export json {} -o /dev/full", results.display())).expect(5);
    assert_eq!(full.stderr.lines().count(), 1, "{}", full.stderr);
}

#[test]
fn a_results_file_is_not_overwritten_by_its_export() {
    let sandbox = Sandbox::open();
    sandbox.finish(sandbox.measuring(CASES)).expect(0);
    let (results, link) = (sandbox.results(), sandbox.path("link"));
    let before = fs::read(&results).expect("results");
    std::os::unix::fs::symlink(&results, &link).expect("a link");
    for output in [&results, &link] {
        let arguments = format!("export csv {} -o {}", results.display(), output.display());
        let kept = sandbox.run(&arguments).expect(2);
        assert!(kept.stderr.contains("choose another path"), "{}", kept.stderr);
        assert_eq!(fs::read(&results).expect("results"), before);
    }
}

#[test]
fn a_reader_of_exports_that_goes_away_is_a_clean_end() {
    let sandbox = Sandbox::open();
    sandbox.finish(sandbox.measuring(CASES)).expect(0);
    let results = sandbox.results();
    for format in formats(&sandbox) {
        let (reader, writer) = pipe().expect("a pipe");
        drop(reader);
        let mut command = sandbox.command(&format!("export {format} {}", results.display()));
        let ended = command.stdout(writer).stderr(Stdio::piped()).output().expect("it starts");
        let stderr = String::from_utf8_lossy(&ended.stderr);
        // `folded` warns that there is no profile.
        let unexpected: Vec<&str> =
            stderr.lines().filter(|line| !line.contains("the output is empty")).collect();
        assert_eq!((ended.status.code(), unexpected), (Some(0), Vec::new()), "{format}");
    }
}

/// Returns the number of rows of the `csv-runs` export at `path`.
fn rows(path: &std::path::Path) -> usize {
    fs::read_to_string(path).expect("an export").matches("\r\n").count() - 1
}

#[test]
fn what_was_measured_before_a_failure_is_exported() {
    let sandbox = Sandbox::open();
    let path = sandbox.path("runs.csv");
    let arguments = format!(
        "-m null,pipe -b 64 --total 1000000GB --timeout 0.1 --repetitions 1 --quiet --export csv-runs={}",
        path.display()
    );
    let ended = sandbox.finish(sandbox.measuring(&arguments)).expect(4);
    assert!(!ended.stderr.contains("csv-runs written to"), "{}", ended.stderr);
    assert_eq!(rows(&path), ResultsFile::read(&sandbox.results()).samples.len());
}

#[test]
fn what_was_measured_before_an_interruption_is_exported_and_so_is_what_is_resumed() {
    let sandbox = Sandbox::open();
    let path = sandbox.path("runs.csv");
    let export = format!("--export csv-runs={}", path.display());
    let command = sandbox.begin(&format!("-m null,pipe -b 64 --repetitions 150 {export}"));
    wait_for("some runs", HANG, || (runs_recorded(&sandbox.results()) >= 3).then_some(()));
    signal(command.id(), Signal::INT);
    let ended = command.finish(HANG).expect(130);
    assert!(ended.stderr.contains("csv-runs written to"), "{}", ended.stderr);
    let measured = ResultsFile::read(&sandbox.results()).samples.len();
    assert_eq!(rows(&path), measured);
    let resumed = format!("resume {} {export} --quiet", sandbox.results().display());
    sandbox.run(&resumed).expect(0);
    assert_eq!(rows(&path), ResultsFile::read(&sandbox.results()).samples.len());
    assert!(rows(&path) > measured);
}

#[test]
fn an_export_without_its_instrument_says_what_is_missing() {
    let sandbox = Sandbox::open();
    let arguments = "-m pipe -b 64 --total 64KiB --repetitions 1";
    sandbox.finish(sandbox.measuring(arguments)).expect(0);
    let exported = sandbox.run(&format!("export folded {}", sandbox.results().display())).expect(0);
    assert_eq!(exported.stdout, "");
    assert!(exported.stderr.contains("`profile`"), "{}", exported.stderr);
}
