//! Checks that the example is independent of the libraries that ipcperf measures.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Libraries that ipcperf measures, and the crates that measure them.
const MEASURED: [&str; 6] =
    ["ipcperf-engine", "ipcperf-zmq", "iceoryx2", "ipc-channel", "tonic", "zbus"];

/// Returns the path of the example, which cargo builds before this test.
fn example() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let folder =
        test.parent().and_then(Path::parent).expect("tests lie in a folder of the profile's");
    folder.join("examples").join("summarize")
}

#[test]
fn the_example_prints_a_median_for_each_case() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join("tests/command/files").join("three-mechanisms.jsonl");
    let output = Command::new(example()).arg(file).output().expect("the example starts");
    let text = String::from_utf8(output.stdout).expect("names and numbers");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (first, medians) = text.split_once('\n').expect("a first line");
    assert!(first.contains(" samples, "), "{first}");
    assert!(medians.lines().count() > 0, "{text}");
    for line in medians.lines() {
        assert!(line.ends_with(" ns") || line.ends_with(" bytes/s"), "{line}");
    }
}

#[test]
fn nothing_that_is_measured_is_compiled_for_readers_of_results() {
    let arguments = [
        "tree",
        "--package",
        "ipcperf-results",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
        "--offline",
    ];
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    let tree = String::from_utf8(output.stdout).expect("names and versions");
    assert!(tree.starts_with("ipcperf-results "), "{}", String::from_utf8_lossy(&output.stderr));
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    for measured in MEASURED {
        assert!(!names.contains(&measured), "ipcperf-results depends on {measured}:\n{tree}");
    }
}
