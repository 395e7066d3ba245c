//! Output: its content, its destination, and the speed of help.

use std::fs::OpenOptions;
use std::io::pipe;
use std::process::Stdio;

use serde_json::Value;

use crate::sandbox::{HANG, Sandbox};

const CASES: &str = "-m null,pipe,udp -b 64,70000 --total 64000 --repetitions 2";

fn array(text: &str) -> Vec<Value> {
    serde_json::from_str(text).expect(text)
}

#[test]
fn run_and_show_print_the_same_objects() {
    let sandbox = Sandbox::open();
    let ran = sandbox.finish(sandbox.measuring(&format!("{CASES} --json"))).expect(0);
    let shown = sandbox.run(&format!("show --json {}", sandbox.results().display())).expect(0);
    assert_eq!(array(&ran.stdout), array(&shown.stdout));
    assert_eq!(array(&ran.stdout).len(), 6);
}

#[test]
fn run_and_show_print_the_same_tables() {
    let sandbox = Sandbox::open();
    let ran = sandbox.finish(sandbox.measuring(CASES)).expect(0);
    let shown = sandbox.run(&format!("show {}", sandbox.results().display())).expect(0);
    let tables = |text: &str| {
        let rows = text.lines().filter(|line| line.starts_with(" pipe") || line.contains(" udp "));
        rows.map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(!tables(&ran.stdout).is_empty(), "{}", ran.stdout);
    assert_eq!(tables(&ran.stdout), tables(&shown.stdout));
}

#[test]
fn quiet_prints_nothing() {
    let sandbox = Sandbox::open();
    let ran = sandbox.finish(sandbox.measuring(&format!("{CASES} --quiet"))).expect(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
}

#[test]
fn plan_runs_nothing_and_counts_what_would_run() {
    let sandbox = Sandbox::open();
    let planned = sandbox.run(&format!("plan {CASES} --json")).expect(0);
    let plan: Value = serde_json::from_str(&planned.stdout).expect("one object");
    assert_eq!(plan["cases"].as_array().map(Vec::len), Some(5));
    assert_eq!(plan["refused"].as_array().map(Vec::len), Some(1));
    assert_eq!(plan["runs"], 15);
    let table = sandbox.run(&format!("plan {CASES}")).expect(0);
    assert!(table.stdout.contains("65507"), "{}", table.stdout);
    let written = std::fs::read_dir(sandbox.path("data")).expect("a folder");
    assert_eq!(written.count(), 0);
}

#[test]
fn every_listed_entry_says_what_it_is_and_whether_it_is_there() {
    let sandbox = Sandbox::open();
    for arguments in
        ["list --json", "list mechanisms --json", "list workloads --json", "list exporters --json"]
    {
        let entries = array(&sandbox.run(arguments).expect(0).stdout);
        assert!(!entries.is_empty());
        for entry in &entries {
            assert!(entry["name"].as_str().is_some_and(|name| !name.is_empty()), "{entry}");
            assert!(entry["about"].as_str().is_some_and(|about| !about.is_empty()), "{entry}");
            let available = entry["available"].as_bool().expect("yes or no");
            assert_eq!(entry["reason"].is_null(), available, "{entry}");
        }
    }
}

#[test]
fn the_list_names_the_mechanisms_of_the_engine() {
    let sandbox = Sandbox::open();
    let entries = array(&sandbox.run("list mechanisms --json").expect(0).stdout);
    let known: Vec<&str> =
        ipcperf_engine::mechanism::MECHANISMS.iter().map(|mechanism| mechanism.name).collect();
    let listed: Vec<&str> = entries.iter().filter_map(|entry| entry["name"].as_str()).collect();
    assert_eq!(listed, known);
    let table = sandbox.run("list").expect(0).stdout;
    assert!(known.iter().all(|name| table.contains(name)), "{table}");
}

/// `ipcperf list | head -1`: the reader closes the pipe before everything is written.
#[test]
fn a_reader_that_goes_away_is_a_clean_end() {
    let sandbox = Sandbox::open();
    let run = format!("run -m null -b 64 --total 64 --repetitions 1 --out {}", "results.jsonl");
    for arguments in ["list", "list --json", "--help", "plan -m all", &run] {
        let (reader, writer) = pipe().expect("a pipe");
        drop(reader);
        let mut command = sandbox.command(arguments);
        command.current_dir(sandbox.path("data")).stdout(writer).stderr(Stdio::piped());
        let ended = command.output().expect("the command starts");
        let words = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(0), "{arguments}: {words}");
        assert!(!words.contains("annot write"), "{arguments}: {words}");
    }
}

/// The summary cannot be printed, but the results are kept.
#[test]
fn an_output_that_cannot_be_written_is_told() {
    let sandbox = Sandbox::open();
    let full = || OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let mut list = sandbox.command("list");
    let ended = list.stdout(full()).output().expect("the command starts");
    assert_eq!(ended.status.code(), Some(5), "{ended:?}");
    assert!(!ended.stderr.is_empty());
}

#[test]
fn tables_keep_to_the_columns_there_are() {
    let sandbox = Sandbox::open();
    sandbox.finish(sandbox.measuring(CASES)).expect(0);
    let results = sandbox.results();
    let mut widths = Vec::new();
    for columns in [40, 60, 200] {
        let mut show = sandbox.command(&format!("show {}", results.display()));
        show.env("COLUMNS", columns.to_string());
        let shown = sandbox.finish(show).expect(0).stdout;
        let width = shown.lines().map(|line| line.chars().count()).max().expect("lines");
        assert!(width <= columns, "{width} of {columns}: {shown}");
        assert!(shown.contains("refused at 70 kB"), "{shown}");
        widths.push(width);
    }
    assert!(widths[0] < widths[1] && widths[1] < widths[2], "{widths:?}");
}

#[test]
fn a_table_has_the_cpu_time_and_on_request_the_share_of_the_limit_and_percentiles() {
    let sandbox = Sandbox::open();
    let cases = "-m pipe -w stream,round-trip -b 64 --total 64000 --repetitions 2";
    let ran = sandbox.finish(sandbox.measuring(cases)).expect(0).stdout;
    assert!(ran.contains("CPU/msg") && ran.contains("CPU/trip"), "{ran}");
    assert!(!ran.contains("of limit") && !ran.contains("p99.9"), "{ran}");
    let results = sandbox.results();
    let limits = sandbox.run(&format!("show --show limits {}", results.display())).expect(0);
    assert!(limits.stdout.contains("of limit"), "{}", limits.stdout);
    let shown = sandbox.run(&format!("show --percentiles {}", results.display())).expect(0).stdout;
    let header = shown.lines().find(|line| line.contains("p99.9")).expect("a table");
    let headings: Vec<&str> = header.split_whitespace().collect();
    assert_eq!(headings, ["mechanism", "buffer", "p50", "p90", "p99", "p99.9", "max"]);
    for text in [&ran, &limits.stdout, &shown] {
        let wide = text.lines().find(|line| line.chars().count() > 100);
        assert_eq!(wide, None, "{text}");
    }
}

#[test]
fn an_option_that_the_kernel_rounds_is_shown_with_what_it_granted() {
    let sandbox = Sandbox::open();
    let cases = "-m pipe --set pipe.capacity=5KiB -b 64 --total 64000 --repetitions 1";
    let ran = sandbox.finish(sandbox.measuring(cases)).expect(0).stdout;
    let words = ran.split_whitespace().collect::<Vec<_>>().join(" ");
    // A power of two, and at least a page.
    let granted = 8.max(rustix::param::page_size() / 1024);
    assert!(words.contains(&format!("(5 KiB requested, {granted} KiB granted)")), "{ran}");
}

#[test]
fn a_plan_says_how_much_longer_a_busy_machine_takes() {
    let sandbox = Sandbox::open();
    let planned = |arguments: &str| {
        let command = sandbox.detecting_noise(&format!("plan -m pipe -b 64 {arguments}"));
        let printed = sandbox.finish(command).expect(0).stdout;
        printed.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let many = planned("--repetitions 100");
    let counts = "1 case with 100 repetitions and one before them that is not counted: 101 runs";
    assert!(many.contains(counts), "{many}");
    assert!(many.contains("at most 50 retries"), "{many}");
    let few = planned("--repetitions 3 --attempts 2");
    assert!(few.contains("at most 3 retries"), "{few}");
    let once = planned("--attempts 1");
    assert!(!once.contains("retried"), "{once}");
    let undetected = sandbox.run("plan -m pipe -b 64 --repetitions 100").expect(0).stdout;
    assert!(!undetected.contains("retried"), "without noise detection: {undetected}");
}

#[test]
fn help_and_list_come_without_warnings() {
    let sandbox = Sandbox::open();
    for arguments in ["--help", "list", "run --help", "--version"] {
        let finished = sandbox.run(arguments).expect(0);
        assert_eq!(finished.stderr, "", "{arguments}");
        assert!(finished.stdout.contains("ipcperf") || arguments == "list");
    }
}

/// Threads of a test may share a sandbox: neither reads what the other's command printed.
#[test]
fn each_command_of_a_sandbox_has_its_own_output() {
    let sandbox = Sandbox::open();
    let version = sandbox.start(sandbox.command("--version"));
    let refused = sandbox.start(sandbox.command("plan -m null --verify"));
    let (version, refused) = (version.finish(HANG).expect(0), refused.finish(HANG).expect(2));
    assert!(version.stdout.starts_with("ipcperf ") && version.stderr.is_empty(), "{version:?}");
    assert!(refused.stdout.is_empty() && refused.stderr.contains("null"), "{refused:?}");
}
