//! `ipcperf list`: the overview, the lists of each kind, and the manuals of entries.

use ipcperf_engine::mechanism::MECHANISMS;
use serde_json::Value;

use crate::sandbox::Sandbox;

/// Lists `what` in a terminal of `columns` characters.
fn listed(what: &str, columns: usize) -> String {
    let sandbox = Sandbox::open();
    let mut list = sandbox.command(&format!("list {what}"));
    list.env("COLUMNS", columns.to_string());
    sandbox.finish(list).expect(0).stdout
}

#[test]
fn the_overview_has_each_mechanism_on_one_line_of_80_columns() {
    let text = listed("", 80);
    for mechanism in MECHANISMS {
        let begins = |line: &&str| line.split_whitespace().next() == Some(mechanism.name);
        let lines: Vec<&str> = text.lines().filter(begins).collect();
        assert_eq!(lines.len(), 1, "{}: {text}", mechanism.name);
        let last = lines[0].split_whitespace().last();
        assert!(matches!(last, Some("yes" | "no")), "{}", lines[0]);
    }
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for name in ["request-reply", "rusage", "pipe-or-socket", "benchstat", "faster-than"] {
        assert!(text.contains(name), "no {name}: {text}");
    }
    assert!(text.lines().count() <= MECHANISMS.len() + 16, "{text}");
}

#[test]
fn each_kind_is_listed_within_80_columns() {
    for kind in ["mechanisms", "workloads", "studies", "exporters", "tests"] {
        let text = listed(kind, 80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{kind}: {text}");
    }
    let studies = listed("studies", 200);
    assert!(studies.contains("Borrowing pages in a pipe"), "{studies}");
}

#[test]
fn a_name_gets_its_manual() {
    let wanted: [(&str, &[&str]); 5] = [
        ("pipe", &["How it works", "Defaults that matter", "capacity", "largest message"]),
        ("round-trip", &["Measures", "request-reply"]),
        ("rusage", &["available", "intrusive"]),
        (
            "faster-than",
            &["Estimate", "Supported if", "Rejected if", "Assumptions", "Source", "Terms"],
        ),
        ("csv", &["ipcperf export csv"]),
    ];
    for (name, words) in wanted {
        let text = listed(name, 80);
        assert!(text.starts_with(&format!("{name}: ")), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for word in words {
            assert!(text.contains(word), "{name}: no `{word}`: {text}");
        }
    }
}

#[test]
fn the_json_of_a_name_is_its_entry_in_the_json_of_the_list() {
    let sandbox = Sandbox::open();
    let array = |arguments: &str| -> Vec<Value> {
        serde_json::from_str(&sandbox.run(arguments).expect(0).stdout).expect("an array")
    };
    let all = array("list mechanisms --json");
    let one = array("list unix-dgram --json");
    assert_eq!(one.len(), 1, "{one:?}");
    assert_eq!(one[0]["name"], "unix-dgram");
    assert!(all.contains(&one[0]), "{one:?}");
}

#[test]
fn help_says_which_workload_and_which_placement_to_choose() {
    let help = Sandbox::open().run("run --help").expect(0).stdout;
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for phrase in ["another size than its requests", "not pinned: the scheduler decides"] {
        assert!(words.contains(phrase), "no `{phrase}`: {help}");
    }
}
