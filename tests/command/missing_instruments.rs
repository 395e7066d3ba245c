//! Cells of a study whose instrument is not available on this machine.

use std::fs;

use serde_json::Value;

use crate::results::{ResultsFile, number, text};
use crate::sandbox::Sandbox;

/// A study with a separate matrix for what only an instrument can observe.
const STUDY: &str = r#"
name = "seen"
title = "What strace sees"
question = "Are calls seen?"

[sampling]
repetitions = 2
attempts = 1
timeout = 600
seed = 1

[[matrix]]
name = "plain"
mechanism = "null"
buffer = "64"
total = "64kB"

[[matrix]]
name = "seen"
mechanism = "pipe"
workload = "round-trip"
buffer = "8,16"
messages = 5
instrument = "strace"

[[hypothesis]]
id = "H1"
claim = "Round trips take no longer with size."
test = "slope"
where = { matrix = "seen" }
below = 2
"#;

#[test]
fn cells_whose_instrument_is_missing_are_not_run() {
    let sandbox = Sandbox::open();
    let path = sandbox.path("seen.toml");
    fs::write(&path, STUDY).expect("a study");
    let study = path.display();
    let without_strace = |arguments: &str| {
        let mut command = sandbox.command(arguments);
        command.env("PATH", sandbox.path("tmp"));
        command
    };
    let printed = sandbox.finish(without_strace(&format!("study plan {study}"))).expect(0).stdout;
    let words = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("unavailable instrument: strace: "), "{printed}");
    assert!(words.contains("; 2 cells are not run (matrix seen)"), "{printed}");
    assert!(!printed.contains("round-trip"), "{printed}");
    let out = sandbox.results();
    let run = format!("study run {study} --quiet --out {}", out.display());
    sandbox.finish(without_strace(&run)).expect(0);
    let file = ResultsFile::read(&out);
    assert_eq!(file.samples.len(), 3, "{:?}", file.samples);
    let unavailable = &file.header["plan"]["unavailable_instruments"][0];
    assert_eq!(
        (text(unavailable, "instrument"), number(unavailable, "cells_left_out")),
        ("strace", 2)
    );
    let judged = sandbox.run(&format!("study judge --json {}", out.display())).expect(0).stdout;
    let judged: Value = serde_json::from_str(&judged).expect("an array");
    assert_eq!(text(&judged[0], "verdict"), "not testable here", "{judged}");
    assert!(text(&judged[0]["evidence"], "reason").starts_with("strace: "), "{judged}");
    let plain = "name = \"plain\"\nmechanism = \"null\"\n";
    let alone = STUDY.replace(plain, &format!("{plain}instrument = \"strace\"\n"));
    fs::write(&path, alone).expect("a study");
    let refused = sandbox.finish(without_strace(&format!("study plan {study}"))).expect(3);
    assert!(refused.stderr.contains("strace: "), "{}", refused.stderr);
}
