//! `ipcperf doctor`: it reports what is missing and how to fix it, and changes nothing.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::laboratory::Laboratory;

/// Settings that remedies mention.
const SETTINGS: [&str; 9] = [
    "fs/pipe-max-size",
    "fs/mqueue/msg_max",
    "fs/mqueue/msgsize_max",
    "kernel/kptr_restrict",
    "kernel/perf_event_paranoid",
    "kernel/unprivileged_bpf_disabled",
    "kernel/numa_balancing",
    "net/core/rmem_max",
    "net/core/wmem_max",
];

fn settings() -> BTreeMap<&'static str, Option<String>> {
    let value = |name| fs::read_to_string(format!("/proc/sys/{name}")).ok();
    SETTINGS.into_iter().map(|name| (name, value(name))).collect()
}

fn names_listed(laboratory: &Laboratory, what: &str) -> Vec<String> {
    let told = laboratory.run(&format!("list {what} --json")).expect(0);
    let told: Value = serde_json::from_str(&told.stdout).expect("an array");
    let names = told.as_array().expect("an array").iter().map(|entry| &entry["name"]);
    names.map(|name| name.as_str().expect("a name").to_owned()).collect()
}

#[test]
fn it_changes_nothing_and_leaves_nothing() {
    let laboratory = Laboratory::open();
    let before = settings();
    let told = laboratory.run("doctor").expect(0);
    assert!(told.stdout.contains("Works here"), "{}", told.stdout);
    assert_eq!(before, settings());
    let kept = fs::read_dir(laboratory.path("data")).expect("a folder").count();
    assert_eq!(kept, 0, "files of results");
    laboratory.assert_nothing_left();
}

#[test]
fn scripts_get_all_that_is_listed_and_a_remedy_for_what_is_missing() {
    let laboratory = Laboratory::open();
    let told = laboratory.run("doctor --json").expect(0);
    assert_eq!(told.stderr, "");
    let told: Value = serde_json::from_str(&told.stdout).expect("one object");
    let findings = told["findings"].as_array().expect("an array");
    for name in ["mechanisms", "instruments"].iter().flat_map(|it| names_listed(&laboratory, it)) {
        assert!(findings.iter().any(|one| one["name"] == *name), "{name} was not looked at");
    }
    for finding in findings {
        let is_told = finding["reason"].is_string() && finding["remedy"].is_string();
        assert_ne!(finding["works"].as_bool(), Some(is_told), "{finding}");
    }
    assert!(told["warnings"].is_array());
    assert!(told["pmu"]["events"].as_array().is_some_and(|events| events.len() > 5));
}
