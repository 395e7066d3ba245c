//! `--messages` from outside.

use serde_json::Value;

use crate::mistakes::refused;
use crate::results::ResultsFile;
use crate::sandbox::Sandbox;

#[test]
fn mixtures_are_cases_whose_tables_name_the_sizes() {
    let sandbox = Sandbox::open();
    let cases = "-m pipe,shm-ring -w stream,round-trip --messages 200B:90%,4KiB:10% \
                 --messages 64:50%,1KiB:50% --total 64KiB --repetitions 2";
    let ran = sandbox.finish(sandbox.measuring(cases)).expect(0).stdout;
    for words in ["messages 200B:90%,4KiB:10%", "messages 64B:50%,1KiB:50%", " up to 4 KiB "] {
        assert!(ran.contains(words), "no `{words}`: {ran}");
    }
    assert_eq!(ran.lines().find(|line| line.chars().count() > 100), None, "{ran}");
    let samples = ResultsFile::read(&sandbox.results()).samples;
    assert_eq!(samples.len(), 2 * 2 * 2 * 3);
    for format in ["csv", "csv-runs"] {
        let sheet = sandbox.run(&format!("export {format} {}", sandbox.results().display()));
        let sheet = sheet.expect(0).stdout;
        assert!(sheet.lines().next().is_some_and(|head| head.contains("message_sizes")), "{sheet}");
        assert!(sheet.contains("\"200B:90%,4KiB:10%\""), "{sheet}");
    }
    let shown = sandbox.run(&format!("show --json {}", sandbox.results().display())).expect(0);
    let cases: Vec<Value> = serde_json::from_str(&shown.stdout).expect("an array");
    assert!(cases.iter().all(|case| case["message_sizes"].is_string()), "{}", cases[0]);
}

/// Study of two mixtures. The selection has the sizes in another order.
const STUDY: &str = r#"
name = "mixtures"
title = "A mixture"
question = "Does a mixture with large messages take longer?"

[sampling]
repetitions = 6

[[matrix]]
mechanism = "pipe"
workload = "round-trip"
message_sizes = ["64:90%,64KiB:10%", "64:90%,128:10%"]

[[hypothesis]]
id = "H1"
claim = "Large messages take longer."
test = "differs"
first = { message_sizes = "64KiB:10%, 64:90%" }
second = { message_sizes = "64:90%,128:10%" }
"#;

#[test]
fn a_study_selects_by_mixture() {
    let sandbox = Sandbox::open();
    let study = sandbox.path("mixtures.toml");
    std::fs::write(&study, STUDY).expect("a study");
    let study = study.display();
    sandbox.run(&format!("study check {study}")).expect(0);
    let results = sandbox.results();
    sandbox.run(&format!("study run {study} --out {}", results.display())).expect(0);
    let judged = sandbox.run(&format!("study judge {} --json", results.display())).expect(0);
    let verdicts: Vec<Value> = serde_json::from_str(&judged.stdout).expect("an array");
    assert_ne!(verdicts[0]["verdict"], "not testable here", "{}", verdicts[0]);
    let both = STUDY.replace("message_sizes = [", "buffer = \"64\"\nmessage_sizes = [");
    std::fs::write(sandbox.path("both.toml"), both).expect("a study");
    let checked = sandbox.run(&format!("study check {}", sandbox.path("both.toml").display()));
    assert_eq!(checked.status.code(), Some(2), "{checked:?}");
    let told = checked.stdout + &checked.stderr;
    assert!(told.contains("message_sizes") && told.contains("leave out buffer"), "{told}");
}

#[test]
fn every_run_has_an_order_of_its_own_and_the_seed_repeats_it() {
    let drawn = || {
        let sandbox = Sandbox::open();
        // Fifty messages: half of those that are shuffled together.
        let cases = "-m pipe --messages 10:50%,1000:50% --total 25250 --repetitions 4 --seed 7";
        sandbox.finish(sandbox.measuring(cases)).expect(0);
        let samples = ResultsFile::read(&sandbox.results()).samples;
        samples.iter().map(|one| one["total_bytes"].clone()).collect::<Vec<Value>>()
    };
    let first = drawn();
    assert!(first.iter().any(|total| *total != first[0]), "{first:?}");
    assert_eq!(first, drawn());
}

#[test]
fn mistakes_in_mixtures_are_named() {
    refused("run -m pipe --messages 64:50%,128:40%", &["add up to 90%"]);
    refused("run -m pipe --messages 64", &["`64` has no share"]);
    refused("run -m pipe --messages 64:100%", &["use -b"]);
    refused("run -m pipe -b 64 --messages 64:50%,128:50%", &["--messages"]);
    refused("run -m udp --messages 64:50%,1MiB:50%", &["udp carries at most 65507"]);
    refused("run -m exec:/bin/true --messages 64:50%,128:50%", &["--messages"]);
}

#[test]
fn a_measurement_of_mixtures_can_be_resumed() {
    let sandbox = Sandbox::open();
    let cases = "-m pipe --messages 64:50%,1KiB:50% --total 64KiB --repetitions 3";
    sandbox.finish(sandbox.measuring(cases)).expect(0);
    let file = sandbox.results();
    let text = std::fs::read_to_string(&file).expect("results");
    let lines: Vec<&str> = text.lines().collect();
    std::fs::write(&file, lines[..3].join("\n") + "\n").expect("a shorter file");
    sandbox.run(&format!("resume {}", file.display())).expect(0);
    assert_eq!(ResultsFile::read(&file).samples.len(), 4);
}
