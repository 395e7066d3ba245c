//! Counters and profile in tables, figures and exports. Few test machines have hardware counters, so the data come from
//! a synthetic file, which is marked as such.

use std::fs;

use serde_json::Value;

use crate::mistakes::refused;
use crate::results::{ResultsFile, lines, number, text};
use crate::sandbox::Sandbox;
use crate::skip::skip;

const MADE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/command/files/synthetic-counters.jsonl");

fn report() -> String {
    let sandbox = Sandbox::open();
    let page = sandbox.path("report.html");
    sandbox.run(&format!("report {MADE} -o {}", page.display())).expect(0);
    fs::read_to_string(page).expect("a page")
}

#[test]
fn every_event_and_ratio_has_a_figure_over_the_buffer_size() {
    let page = report();
    for name in [
        "cycles",
        "instructions",
        "l1d-cache",
        "l1d-cache-refill",
        "l2d-cache",
        "bus-access",
        "cycles-per-instruction",
        "l1d-misses-per-access",
        "cycles-per-l2-access",
        "bus-accesses-per-instruction",
    ] {
        assert!(page.contains(&format!("id=\"figure-events-{name}\"")), "no figure of {name}");
    }
    assert!(page.contains("measured nowhere"), "it does not say that nothing was measured");
}

#[test]
fn shares_are_stacked_by_size_and_stacks_are_drawn() {
    let page = report();
    assert!(page.contains("id=\"figure-shares\""));
    for words in ["4 KiB, copying: 10 %", "64 KiB, copying: 40 %", "1 MiB, copying: 70 %"] {
        assert!(page.contains(words), "{words} is not in it");
    }
    assert!(page.contains("aria-label=\"Flame graph of pipe/"), "no flame graph");
    assert!(page.contains("_copy_from_iter_[k]: "), "no box of the copy");
}

#[test]
fn scripts_get_what_a_message_took() {
    let shown = Sandbox::open().run(&format!("show --json {MADE}")).expect(0).stdout;
    let cases: Vec<Value> = serde_json::from_str(&shown).expect("an array");
    let counted = |bytes: u64, role: &str, name: &str| {
        let case = cases.iter().find(|case| {
            case["mechanism"] == "pipe"
                && case["buffer_bytes"] == bytes
                && !case["counted"].is_null()
        });
        let all = case.expect("a case")["counted"].as_array().expect("an array");
        let one = all.iter().find(|one| one["role"] == role && one["name"] == name);
        one.expect("it was counted")["median"].as_f64().expect("a number")
    };
    // 2,400 cycles per message and 1 per 4 bytes; 1 or 2 % more, depending on the block.
    let cycles = 2_400.0 + 4_096.0 / 4.0;
    let printed = counted(4_096, "sender", "cycles");
    assert!((printed / cycles - 1.015).abs() < 0.001, "{printed}");
    assert!((counted(1 << 20, "receiver", "copying") - 0.75).abs() < 1e-9);
}

#[test]
fn stacks_are_exported_folded() {
    let folded = Sandbox::open().run(&format!("export folded {MADE}")).expect(0).stdout;
    let line = "pipe/stream/2proc/same/4096;sender;write;ksys_write_[k];_copy_from_iter_[k] 10";
    assert!(folded.lines().any(|one| one == line), "{folded}");
}

/// One run per case with the counters that the kernel provides everywhere, and the profile.
const WATCHED: &str = "--instrument counters,profile --counter-events context-switches,page-faults,task-clock \
                       --repetitions 1 --placement same";

/// Runs `cases` with these instruments; `None` if that is not possible here.
fn watched(sandbox: &Sandbox, cases: &str) -> Option<Vec<Value>> {
    let planned = sandbox.run(&format!("plan {cases} {WATCHED}"));
    if planned.status.code() != Some(0) {
        skip(cases, planned.stderr.trim());
        return None;
    }
    if let Some(line) =
        planned.stdout.lines().find(|line| line.starts_with("unavailable instrument"))
    {
        skip(cases, line);
        return None;
    }
    sandbox.finish(sandbox.measuring(&format!("{cases} {WATCHED}"))).expect(0);
    sandbox.assert_nothing_left();
    Some(lines(&sandbox.results()))
}

fn seen<'a>(
    all: &'a [Value],
    run: &'a str,
    instrument: &'a str,
) -> impl Iterator<Item = &'a Value> {
    all.iter().filter(move |line| line["run_id"] == run && line["instrument"] == instrument)
}

#[test]
fn what_is_counted_is_what_the_peers_counted_themselves() {
    let sandbox = Sandbox::open();
    let cases = "-m pipe -b 65536 --total 64MiB --mode 1thread,2thread,2proc";
    let Some(all) = watched(&sandbox, cases) else { return };
    let file = ResultsFile::read(&sandbox.results());
    let mut compared = 0;
    for sample in file.samples.iter().filter(|sample| sample["twin_of"].is_null()) {
        let rows = seen(&all, text(sample, "run_id"), "counters");
        for row in rows.filter(|row| row["event"] == "context-switches") {
            let role = text(row, "role");
            let own = ["voluntary", "involuntary"]
                .map(|kind| number(sample, &format!("{role}_{kind}_switches")));
            // A switch may occur between the reading of the counter and that of the peer.
            let (counted, own) = (number(row, "count"), own[0] + own[1]);
            assert!(counted.abs_diff(own) <= 2, "{role}: {counted}, not {own}");
            compared += 1;
        }
    }
    assert_eq!(
        compared,
        2 * 5,
        "one role alone, and two of two threads and processes, in two blocks"
    );
}

#[test]
fn sender_and_receiver_copy_and_are_told_apart() {
    let sandbox = Sandbox::open();
    let Some(all) = watched(&sandbox, "-m pipe -b 1MiB --total 512MiB --mode 2thread,2proc") else {
        return;
    };
    // How much of the time goes into copying depends on the kernel: charging pages to a cgroup may take ten times as long.
    let samples = |role: &str, is_counted: &dyn Fn(&Value) -> bool| -> u64 {
        let of_role = all.iter().filter(|line| line["role"] == role && is_counted(line));
        of_role.map(|line| number(line, "samples")).sum()
    };
    for role in ["sender", "receiver"] {
        let copying = samples(role, &|line| line["row"] == "group" && line["group"] == "copying");
        let taken = samples(role, &|line| line["row"] == "summary");
        assert!(copying > 0 && copying < taken, "{role}: {copying} of {taken}");
    }
    for copies in ["_copy_from_iter", "_copy_to_iter"] {
        let role = if copies.contains("from") { "sender" } else { "receiver" };
        let of = |line: &&Value| line["row"] == "symbol" && line["symbol"] == copies;
        for line in all.iter().filter(of).filter(|line| number(line, "samples") > 2) {
            assert_eq!(text(line, "role"), role, "{line}");
        }
    }
}

#[test]
fn a_daemon_in_between_has_counts_and_a_profile_of_its_own() {
    let sandbox = Sandbox::open();
    let cases = "-m dbus-copy -w round-trip -b 64KiB --total 64MiB";
    let Some(all) = watched(&sandbox, cases) else { return };
    let is_of = |line: &&Value, role: &str| line["role"] == role;
    for role in ["sender", "receiver", "broker"] {
        let counts = all.iter().filter(|line| is_of(line, role) && line["event"] == "task-clock");
        assert!(counts.clone().count() > 0 && counts.clone().all(|row| number(row, "count") > 0));
        let summaries = all.iter().filter(|line| is_of(line, role) && line["row"] == "summary");
        assert!(summaries.map(|row| number(row, "samples")).sum::<u64>() > 0, "{role}");
    }
}

#[test]
fn what_is_no_event_is_a_mistake_and_what_is_absent_a_line() {
    let plan = |rest: &str| format!("plan -m null -b 64 {rest}");
    refused(&plan("--instrument counters --counter-events page-fautls"), &["page-faults"]);
    refused(&plan("--instrument profile --profile-event rate"), &["rate"]);
    refused(&plan("--counter-events cycles"), &["--counter-events requires --instrument counters"]);
    for events in ["", "--counter-events nowhere/event=1/"] {
        let planned = plan(&format!("--instrument counters {events}"));
        let planned = Sandbox::open().run(&planned).expect(0).stdout;
        let is_there = planned.contains("null/") || planned.contains("null ");
        assert!(is_there, "the rest goes on: {planned}");
    }
}

/// Whether the processor counts instructions here; otherwise skips the test.
fn counts_instructions(sandbox: &Sandbox) -> bool {
    let printed = sandbox.run("doctor --json").expect(0).stdout;
    let printed: Value = serde_json::from_str(&printed).expect("one object");
    let is_there = printed["pmu"]["counters"].as_u64().is_some();
    if !is_there {
        skip("pmu", "the processor counts nothing here");
    }
    is_there
}

/// Returns the user-space instructions of the sender per message, in a run of `total` bytes.
fn instructions_of_a_message(total: &str) -> f64 {
    let sandbox = Sandbox::open();
    let run = format!(
        "-m pipe -b 4096 --total {total} --placement same --repetitions 1 --instrument counters \
         --counter-events instructions:u"
    );
    sandbox.finish(sandbox.measuring(&run)).expect(0);
    let all = lines(&sandbox.results());
    let file = ResultsFile::read(&sandbox.results());
    let sample = file.samples.iter().find(|sample| sample["twin_of"].is_null()).expect("a run");
    let mut rows = seen(&all, text(sample, "run_id"), "counters");
    let row = rows.find(|row| row["role"] == "sender").expect("a count");
    #[allow(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let each = number(row, "count") as f64 / number(sample, "messages") as f64;
    each
}

#[test]
fn a_message_takes_as_many_instructions_however_many_there_are() {
    if !counts_instructions(&Sandbox::open()) {
        return;
    }
    let [few, many] = ["16MiB", "64MiB"].map(instructions_of_a_message);
    assert!(few > 10.0 && (few / many - 1.0).abs() < 0.02, "{few}, then {many}");
}

/// Minimum share of the copying functions. An emulated processor detects overflows only at a tick and when the user and
/// kernel counts are switched: 97 of 100 samples of the receiver fall on its return from read(), whatever was counted
/// before.
const MIN_COPYING: f64 = 0.01;

/// Overflows are detected so rarely that a run must last for many ticks.
#[test]
fn instructions_are_charged_to_functions() {
    let sandbox = Sandbox::open();
    if !counts_instructions(&sandbox) {
        return;
    }
    let run = "-m pipe -b 1MiB --total 2GiB --placement same --repetitions 1 --instrument profile \
               --profile-event instructions";
    sandbox.finish(sandbox.measuring(run)).expect(0);
    let all = lines(&sandbox.results());
    for role in ["sender", "receiver"] {
        let rows = |kind: &'static str| {
            all.iter().filter(move |line| line["role"] == role && line["row"] == kind)
        };
        let summaries: Vec<&Value> = rows("summary").collect();
        let samples: u64 = summaries.iter().map(|row| number(row, "samples")).sum();
        assert!(samples > 100, "{role}: {summaries:?}");
        assert!(summaries.iter().all(|row| row["event"] == "instructions"), "{summaries:?}");
        let copies = rows("group").filter(|row| row["group"] == "copying");
        let most = copies.filter_map(|row| row["share"].as_f64()).fold(0.0, f64::max);
        assert!(most > MIN_COPYING, "{role}: {:?}", rows("symbol").collect::<Vec<_>>());
    }
}
