//! `ipcperf doctor`: it reports what is missing and how to fix it, and changes nothing.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::sandbox::Sandbox;

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

fn names_listed(sandbox: &Sandbox, what: &str) -> Vec<String> {
    let printed = sandbox.run(&format!("list {what} --json")).expect(0);
    let printed: Value = serde_json::from_str(&printed.stdout).expect("an array");
    let names = printed.as_array().expect("an array").iter().map(|entry| &entry["name"]);
    names.map(|name| name.as_str().expect("a name").to_owned()).collect()
}

#[test]
fn it_changes_nothing_and_leaves_nothing() {
    let sandbox = Sandbox::open();
    let before = settings();
    let printed = sandbox.run("doctor").expect(0);
    assert!(printed.stdout.contains("Works here"), "{}", printed.stdout);
    assert_eq!(before, settings());
    let kept = fs::read_dir(sandbox.path("data")).expect("a folder").count();
    assert_eq!(kept, 0, "files of results");
    sandbox.assert_nothing_left();
}

#[test]
fn scripts_get_all_that_is_listed_and_a_remedy_for_what_is_missing() {
    let sandbox = Sandbox::open();
    let printed = sandbox.run("doctor --json").expect(0);
    assert_eq!(printed.stderr, "");
    let printed: Value = serde_json::from_str(&printed.stdout).expect("one object");
    let findings = printed["findings"].as_array().expect("an array");
    for name in ["mechanisms", "instruments"].iter().flat_map(|it| names_listed(&sandbox, it)) {
        assert!(findings.iter().any(|one| one["name"] == *name), "{name} was not looked at");
    }
    for finding in findings {
        let is_told = finding["reason"].is_string() && finding["remedy"].is_string();
        assert_ne!(finding["works"].as_bool(), Some(is_told), "{finding}");
    }
    assert!(printed["warnings"].is_array());
    assert!(printed["pmu"]["events"].as_array().is_some_and(|events| events.len() > 5));
}
