//! Workloads with several peers from outside.

use serde_json::Value;

use crate::mistakes::refused;
use crate::results::{ResultsFile, lines};
use crate::sandbox::Sandbox;

/// Short runs at a rate that every machine carries.
const PACED: &str = "-m pipe -w fan-out -b 64 --peers 1,2,3 --rate 500 --duration 0.02";

#[test]
fn each_number_of_peers_is_a_row_and_the_tables_fit_a_terminal() {
    let sandbox = Sandbox::open();
    let arguments = "-m pipe,shm-ring -w fan-in,server -b 64 --peers 1,3 --repetitions 2";
    let ran = sandbox.finish(sandbox.measuring(arguments)).expect(0).stdout;
    for words in ["Fan-in: bandwidth of the receiver", "Rate of each sender", "Rate of each client"]
    {
        assert!(ran.contains(words), "{words}: {ran}");
    }
    for row in ["pipe, 1 peer ", "pipe, 3 peers", "shm-ring, 3 peers"] {
        assert!(ran.contains(row), "{row}: {ran}");
    }
    assert_eq!(ran.lines().find(|line| line.chars().count() > 100), None, "{ran}");
    let results = sandbox.results().display().to_string();
    let shown = sandbox.run(&format!("show {results}")).expect(0).stdout;
    assert!(shown.contains("Rate of each client"), "{shown}");
    let sheet = sandbox.run(&format!("export csv-runs {results}")).expect(0).stdout;
    let header = sheet.lines().next().expect("a header");
    assert!(header.contains("fairness") && header.contains("peers"), "{header}");
    let sheet = sandbox.run(&format!("export csv-peers {results}")).expect(0).stdout;
    // Of each of two mechanisms and two workloads, 2 + 4 peers in each of three blocks.
    assert_eq!(sheet.lines().count(), 1 + 2 * 2 * (2 + 4) * 3, "{sheet}");
    let sheet = sandbox.run(&format!("export csv {results}")).expect(0).stdout;
    assert!(sheet.lines().next().is_some_and(|header| header.contains("peer_rates")), "{sheet}");
}

#[test]
fn the_cost_of_one_more_peer_is_part_of_the_summary_with_the_most() {
    let sandbox = Sandbox::open();
    sandbox.finish(sandbox.measuring(&format!("{PACED} --repetitions 8"))).expect(0);
    let shown = sandbox.run(&format!("show --json {}", sandbox.results().display())).expect(0);
    let summaries: Vec<Value> = serde_json::from_str(&shown.stdout).expect("an array");
    assert_eq!(summaries.len(), 3);
    let with_cost: Vec<&Value> =
        summaries.iter().filter(|case| case["peer_cost"].is_object()).collect();
    // On a busy machine a case may have no valid run in any block.
    for case in with_cost {
        assert_eq!(case["peers"], 3);
        assert_eq!(case["peer_cost"]["peers"], serde_json::json!([1, 2, 3]));
        assert!(case["peer_cost"]["cpu_ns_per_peer"].is_f64(), "{case}");
    }
}

#[test]
fn an_interrupted_measurement_goes_on_with_its_peers() {
    let sandbox = Sandbox::open();
    sandbox.finish(sandbox.measuring(&format!("{PACED} --repetitions 1"))).expect(0);
    let path = sandbox.results();
    let text = std::fs::read_to_string(&path).expect("a results file");
    // Without the footer and the last line of a peer, as after a kill.
    let kept = text.trim_end().rsplitn(3, '\n').nth(2).expect("lines above").len();
    std::fs::write(&path, &text[..=kept]).expect("a writable file");
    sandbox.run(&format!("resume {}", path.display())).expect(0);
    let file = ResultsFile::read(&path);
    assert_eq!(file.footer["complete"], true);
    let peers = lines(&path).iter().filter(|line| line["kind"] == "peer").count() as u64;
    assert!(file.footer["peers"] == peers, "{}", file.footer);
}

#[test]
fn the_plan_lists_peers_and_their_cpus() {
    let sandbox = Sandbox::open();
    let plan = sandbox.run("plan -m pipe -w fan-in -b 64 --peers 2,5 --placement same").expect(0);
    for words in ["peers", "2 ", "5 ", "CPUs 0"] {
        assert!(plan.stdout.contains(words), "{words}: {}", plan.stdout);
    }
    let listed = sandbox.run("list pipe").expect(0).stdout;
    assert!(listed.contains("many peers") && listed.contains("multiplex"), "{listed}");
}

#[test]
fn mistakes_are_named() {
    for (arguments, words) in [
        ("-m pipe --peers 3", "--peers requires -w fan-in or fan-out or pairs or server"),
        (
            "-m pipe -w fan-in --peers 0",
            "--peers takes whole numbers from 1 to 64, such as 1,2,4, not `0`",
        ),
        ("-m pipe -w fan-in --peers 65", "such as 1,2,4, not `65`"),
        ("-m pipe -w fan-in --traffic stream", "--traffic requires -w pairs"),
        ("-m pipe -w pairs --traffic echo", "unknown traffic `echo`"),
        ("-m pipe -w fan-in --instrument sched", "--instrument does not apply to -w fan-in"),
        ("-m pipe -w server --find-knee", "--find-knee does not apply to -w server"),
        ("-m futex -w server", "cannot wait for messages of several peers with futex; use another"),
        ("-m pipe -w pairs-round-trip --traffic stream", "--traffic requires -w pairs"),
        ("-m pipe -w fan-in --reply 8", "--reply requires -w request-reply or server"),
        ("-m signal -w pairs", "connects two peers only"),
        ("-m pipe -w pairs --mode 1thread", "mode 1thread cannot run"),
        ("-m pipe -w fan-in --rate 1k --pacer spin", "other peers on the same CPU cannot run"),
    ] {
        refused(&format!("run {arguments}"), &[words]);
    }
    refused("trace -m pipe -w server", &["do not apply to -w server"]);
}
