//! Optional features: what a build lacks is listed as missing and refused, each with the command that adds it.
//! `scripts/test` runs these tests with all features and with none.

use serde_json::Value;

use crate::results::text;
use crate::sandbox::Sandbox;

/// Features with a mechanism of their name, and whether this build has each.
const MECHANISMS: [(&str, bool); 3] = [
    ("grpc", cfg!(feature = "grpc")),
    ("nng", cfg!(feature = "nng")),
    ("zeromq", cfg!(feature = "zeromq")),
];

/// Returns the entry of a mechanism in `ipcperf list --json`.
fn listed(sandbox: &Sandbox, name: &str) -> Value {
    let list = sandbox.run("list mechanisms --json").expect(0).stdout;
    let list: Vec<Value> = serde_json::from_str(&list).expect("an array");
    list.into_iter().find(|entry| text(entry, "name") == name).expect("every mechanism is listed")
}

#[test]
fn a_mechanism_that_was_not_built_is_listed_and_refused_with_the_command_that_adds_it() {
    let sandbox = Sandbox::open();
    for (name, is_built) in MECHANISMS {
        let command = format!("--features {name}");
        let run = sandbox.measuring(&format!("-m {name} -b 64 --total 640 --repetitions 1"));
        let run = sandbox.finish(run).expect(if is_built { 0 } else { 3 });
        assert_eq!(run.stderr.contains(&command), !is_built, "{name}: {}", run.stderr);
        let entry = listed(&sandbox, name);
        let remedy = entry["remedy"].as_str().unwrap_or_default();
        assert_eq!(remedy.contains(&command), !is_built, "{entry}");
    }
}

#[test]
fn a_codec_that_was_not_built_is_refused_with_the_command_that_adds_it() {
    let is_built = cfg!(feature = "zstd");
    let sandbox = Sandbox::open();
    let run =
        "-m dgram-compressed --set dgram-compressed.codec=zstd -b 64 --total 640 --repetitions 1";
    let run = sandbox.finish(sandbox.measuring(run)).expect(if is_built { 0 } else { 3 });
    assert_eq!(run.stderr.contains("--features zstd"), !is_built, "{}", run.stderr);
    let manual = sandbox.run("list dgram-compressed").expect(0).stdout;
    assert!(manual.contains("--features zstd"), "{manual}");
}

#[test]
fn every_feature_of_the_command_is_tested_here_or_with_the_report() {
    let manifest: toml::Table = toml::from_str(include_str!("../../crates/ipcperf/Cargo.toml"))
        .expect("the manifest of ipcperf");
    let features = manifest["features"].as_table().expect("a table").keys();
    let features: Vec<&str> = features.map(String::as_str).filter(|name| *name != "full").collect();
    assert_eq!(
        features,
        ["grpc", "nng", "pdf-png", "zeromq", "zstd"],
        "test a new feature as well"
    );
}
