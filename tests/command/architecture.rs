//! Tests that `docs/architecture.md` lists the crates and dependencies that cargo reports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

type Edges = BTreeMap<String, BTreeSet<String>>;

/// Returns our crates and their build dependencies on each other, from cargo.
fn of_cargo() -> Edges {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let ours =
        |name: &str| name == "ipcperf" || (name.starts_with("ipcperf-") && name != "ipcperf-bench");
    let edges = packages.filter(|package| ours(package["name"].as_str().unwrap())).map(|package| {
        let needs = package["dependencies"].as_array().unwrap().iter();
        let needs =
            needs.filter(|one| one["kind"].is_null() && ours(one["name"].as_str().unwrap()));
        let needs = needs.map(|one| one["name"].as_str().unwrap().to_owned());
        (package["name"].as_str().unwrap().to_owned(), needs.collect())
    });
    edges.collect()
}

/// Returns the same from the rows of the page.
fn of_page() -> Edges {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/architecture.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| `ipcperf"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let needs = cells[2].split(',').map(str::trim).filter(|name| !name.is_empty());
        (
            cells[0].trim_matches('`').to_owned(),
            needs.map(|name| format!("ipcperf-{name}")).collect(),
        )
    };
    rows.map(row).collect()
}

#[test]
fn crates_depend_on_what_the_page_says() {
    let (page, cargo) = (of_page(), of_cargo());
    assert_eq!(page.keys().collect::<Vec<_>>(), cargo.keys().collect::<Vec<_>>());
    for (name, needs) in &cargo {
        let more: Vec<&String> = needs.difference(&page[name]).collect();
        assert!(
            more.is_empty(),
            "{name} depends on {more:?}, which docs/architecture.md does not allow"
        );
    }
}
