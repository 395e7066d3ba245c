//! `ipcperf machine`: the environment and its effects on measurements.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::results::{ResultsFile, text};
use crate::sandbox::Sandbox;

/// A file from before most keys of the environment existed.
const OLD: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/command/files/before-more-environment.jsonl");

fn machine(sandbox: &Sandbox) -> Value {
    let printed = sandbox.run("machine --json").expect(0);
    assert_eq!(printed.stderr, "");
    serde_json::from_str(&printed.stdout).expect("one object")
}

fn environment(object: &Value) -> &Map<String, Value> {
    object["environment"].as_object().expect("an object")
}

#[test]
fn the_machine_is_told_with_environment_limits_and_warnings() {
    let object = machine(&Sandbox::open());
    let keys: Vec<&str> =
        object.as_object().expect("an object").keys().map(String::as_str).collect();
    for key in ["environment", "limits", "warnings"] {
        assert!(keys.contains(&key), "{keys:?}");
    }
    assert_eq!(keys.len(), 3);
}

#[test]
fn there_are_sixty_facts_and_most_are_known() {
    let object = machine(&Sandbox::open());
    let environment = environment(&object);
    assert!(environment.len() >= 60, "{}", environment.len());
    assert!(environment.values().all(|value| !value.is_object()), "keys are flat");
    let known = environment.values().filter(|value| !value.is_null()).count();
    assert!(known >= 45, "{known} of {}: {environment:?}", environment.len());
    for key in ["version", "kernel", "allowed_cpus", "memory_bytes", "nice", "capabilities"] {
        assert!(!environment[key].is_null(), "{key}");
    }
}

/// The hardware limits take about two seconds of CPU time; nothing else takes long.
#[test]
fn the_machine_is_told_soon() {
    let sandbox = Sandbox::open();
    for arguments in ["machine", "machine --json"] {
        let used = sandbox.run(arguments).expect(0).cpu_time;
        assert!(used < Duration::from_secs(30), "{arguments}: {used:?}");
    }
}

/// The page lists every known fact once, by name, and the unknown ones in a place of their own.
#[test]
fn the_page_has_every_fact_and_no_blank() {
    let sandbox = Sandbox::open();
    let page = sandbox.run("machine").expect(0).stdout;
    let object = machine(&sandbox);
    let words: Vec<&str> = page.split_whitespace().collect();
    let words = words.join(" ");
    let units = ["_bytes", "_ns", "_us", "_khz", "_share", "_s"];
    for key in environment(&object).keys() {
        let stem = units.iter().find_map(|unit| key.strip_suffix(unit)).unwrap_or(key);
        assert!(words.contains(&stem.replace('_', " ")), "{key} is not in {page}");
    }
    assert!(!page.contains("null"), "{page}");
    for line in page.lines() {
        assert!(line.chars().count() <= 116, "{line}");
    }
}

/// Limits and scheduling policies set by a shell are reported for the process that inherits them.
#[test]
fn what_is_set_is_what_is_told() {
    let sandbox = Sandbox::open();
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg("ulimit -n 99; ulimit -c 0; exec nice -n 3 \"$0\" \"$@\"");
    shell.arg(env!("CARGO_BIN_EXE_ipcperf"));
    let printed = sandbox.finish(sandbox.place(shell, "machine --json")).expect(0);
    let object: Value = serde_json::from_str(&printed.stdout).expect("one object");
    let before = machine(&sandbox)["environment"]["nice"].as_i64().expect("a number");
    assert_eq!(object["environment"]["ulimit_open_files"], 99);
    assert_eq!(object["environment"]["nice"], (before + 3).min(19));
    let warnings = object["warnings"].as_array().expect("a list");
    let low = warnings.iter().find(|warning| warning["name"] == "low-priority");
    assert!(low.is_some() || before < -3, "{warnings:?}");
}

#[test]
fn every_warning_has_a_name_a_severity_and_a_remedy() {
    let object = machine(&Sandbox::open());
    for warning in object["warnings"].as_array().expect("a list") {
        for key in ["name", "severity", "what", "remedy"] {
            assert!(!text(warning, key).is_empty(), "{warning}");
        }
        assert!(["distorts", "limits", "note"].contains(&text(warning, "severity")), "{warning}");
    }
}

/// Tests are built without optimization, which itself causes a warning.
#[test]
fn what_distorts_is_told_once_before_measuring() {
    let sandbox = Sandbox::open();
    let arguments = "-m null -b 64 --total 64 --repetitions 1";
    let ran = sandbox.finish(sandbox.measuring(arguments)).expect(0);
    let object = machine(&sandbox);
    for warning in object["warnings"].as_array().expect("a list") {
        // The load, and the share of stolen time, may change between the two commands.
        if ["busy-machine", "steal-seen"].contains(&text(warning, "name")) {
            continue;
        }
        let printed = ran.stderr.matches(text(warning, "what")).count();
        let grave = text(warning, "severity") == "distorts";
        assert_eq!(printed, usize::from(grave), "{warning}: {}", ran.stderr);
    }
    if cfg!(debug_assertions) {
        assert!(ran.stderr.contains("cargo build --release"), "{}", ran.stderr);
    }
}

#[test]
fn results_have_all_that_the_command_tells() {
    let sandbox = Sandbox::open();
    let arguments = "-m null -b 64 --total 64 --repetitions 1 --quiet";
    sandbox.finish(sandbox.measuring(arguments)).expect(0);
    let header = ResultsFile::read(&sandbox.results()).header;
    let object = machine(&sandbox);
    let keys = |object: &Value| environment(object).keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&header), keys(&object));
    for key in ["kernel", "boot_id", "allowed_cpus", "ulimit_open_files", "page_bytes"] {
        assert_eq!(header["environment"][key], object["environment"][key], "{key}");
    }
}

/// A results file of an older ipcperf has fewer facts but the same tables.
#[test]
fn results_with_fewer_facts_are_shown() {
    let old = ResultsFile::read(Path::new(OLD));
    assert!(environment(&old.header).len() < 30);
    let shown = Sandbox::open().run(&format!("show {OLD}")).expect(0);
    assert_eq!(shown.stderr, "");
    assert!(shown.stdout.contains("Xeon"), "{}", shown.stdout);
    assert!(shown.stdout.contains("pipe"), "{}", shown.stdout);
}
