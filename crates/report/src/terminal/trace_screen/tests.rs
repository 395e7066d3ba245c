use ipcperf_model::case_id::{NameParts, NamedInstrument, Side};
use ipcperf_model::instrument::kernel_objects::{self, KernelObjectRow};
use ipcperf_model::instrument::{InstrumentFacts, profile, rusage, sched};
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{Failure, FailureKind};
use ipcperf_results::testing::{analyzed_file, sample, with_name_parts};
use ipcperf_results::{ExclusionReason, FailedRun, ObservationRecord};
use serde::Serialize;
use textwrap::core::display_width;

use super::test_rows::{profile_rows, syscall_row, usage_row};
use super::*;

/// Run whose observations are stored.
const RUN: &str = "1.1.1";
const MAX_LINES: usize = 60;

fn observation(facts: &InstrumentFacts, role: &str, row: &impl Serialize) -> ObservationRecord {
    ObservationRecord::new(RUN, facts.name, Observation::from_row(Some(role), row))
}

fn call(role: &str, syscall: &str, total_ns: u64) -> ObservationRecord {
    observation(&syscalls::FACTS, role, &syscall_row(syscall, total_ns))
}

fn usage(role: &str) -> ObservationRecord {
    observation(&rusage::FACTS, role, &usage_row())
}

fn object(role: &str) -> ObservationRecord {
    let row = KernelObjectRow {
        number: 5,
        object: "pipe".to_owned(),
        limit: "capacity".to_owned(),
        requested_bytes: None,
        before_bytes: Some(65_536),
        after_bytes: Some(65_536),
    };
    observation(&kernel_objects::FACTS, role, &row)
}

/// Returns a profile of `role` with 40 samples in 12 functions.
fn profile(role: &str) -> Vec<ObservationRecord> {
    let rows = profile_rows(40, 12);
    rows.iter().map(|row| observation(&profile::FACTS, role, row)).collect()
}

/// Returns everything that is observed of `role`, with `calls` system calls.
fn role_observations(role: &str, calls: u64) -> Vec<ObservationRecord> {
    let calls = (0..calls).map(|number| call(role, &format!("call{number}"), number));
    let sched = SchedRow { on_cpu_ns: 3_000_000, asleep_ns: 5_000, ..SchedRow::default() };
    let sched = observation(&sched::FACTS, role, &sched);
    calls.chain([usage(role), sched, object(role)]).chain(profile(role)).collect()
}

/// Returns a file with one traced run and its twin, which took a third of the time.
fn traced(observations: Vec<ObservationRecord>) -> AnalyzedFile {
    let run = |case: &str, position: usize, elapsed_ns: u64| {
        let mut run = sample("pipe", WorkloadKind::Stream, 4_096, 1, elapsed_ns);
        run.run.run_id = format!("1.{position}.1");
        run.run.case.case_id = case.to_owned();
        let known = [&syscalls::FACTS, &sched::FACTS, &rusage::FACTS, &kernel_objects::FACTS];
        let names = known.into_iter().chain([&profile::FACTS]).map(|facts| facts.name.to_owned());
        run.instruments = names.collect();
        run
    };
    let mut twin = run("pipe/twin", 0, 1_000_000);
    twin.twin_of = Some("pipe/watched".to_owned());
    let samples = vec![twin, run("pipe/watched", 1, 3_000_000)];
    let mut file = analyzed_file("trace.jsonl", samples, Vec::new());
    file.results.observations = observations;
    file
}

/// Returns a file like [`traced`], with further parts in which only non-intrusive instruments observed anything.
fn traced_in_parts(parts: u32, observations: &[ObservationRecord]) -> AnalyzedFile {
    let mut file = traced(observations.to_vec());
    for part in 2..=parts {
        let mut pair = file.results.samples[..2].to_vec();
        let case = format!("pipe/part{part}");
        for (run, id) in pair.iter_mut().zip([format!("{case}/twin"), case.clone()]) {
            run.run.run_id =
                if run.twin_of.is_some() { format!("1.{part}0.1") } else { run_id(part) };
            run.instruments.retain(|name| name != syscalls::FACTS.name);
            run.run.case.case_id = id;
        }
        pair[0].twin_of = Some(case);
        file.results.samples.extend(pair);
        file.results.header.plan.cases.push(format!("pipe/part{part}"));
        let again = observations.iter().filter(|one| {
            [rusage::FACTS.name, kernel_objects::FACTS.name].contains(&one.instrument.as_str())
        });
        let again = again.map(|one| ObservationRecord { run_id: run_id(part), ..one.clone() });
        file.results.observations.extend(again);
    }
    for twin in file.results.samples.iter_mut().filter(|run| run.twin_of.is_some()) {
        twin.instruments =
            [&rusage::FACTS, &kernel_objects::FACTS].map(|one| one.name.to_owned()).to_vec();
    }
    file
}

fn run_id(part: u32) -> String {
    format!("1.{part}1.1")
}

fn screen(file: &AnalyzedFile, columns: usize) -> String {
    trace_screen(file, columns, MAX_LINES).expect("a traced run")
}

fn assert_fits(text: &str, columns: usize) {
    assert!(text.lines().count() <= MAX_LINES, "{} lines:\n{text}", text.lines().count());
    let wide: Vec<&str> = text.lines().filter(|line| display_width(line) > columns).collect();
    assert!(wide.is_empty(), "wider than {columns}: {wide:#?}");
}

#[test]
fn a_trace_shows_what_it_saw_and_ends_with_its_cost() {
    let both = ["sender", "receiver"].map(|role| role_observations(role, 1)).concat();
    let text = screen(&traced(both), 100);
    assert_fits(&text, 100);
    for part in [
        "pipe/watched: 1000 messages",
        "System calls: sender (times: 256 ns to 2.10 ms",
        "System calls: receiver",
        "|█▁",
        "Time, context switches",
        "Hottest functions",
        "function_with_a_long_name_12 [k]",
        "2 more functions",
        "Only 80 samples in 1 run",
        "--total 32MiB",
        "kernel buffers between the peers",
        "ipcperf show trace.jsonl",
        "ipcperf report trace.jsonl -o report.html",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    let cost = "Cost of tracing: 3.00 times the time per message without it (1 pair of runs, too few to be reliable)";
    assert_eq!(text.lines().last(), Some(cost));
}

#[test]
fn however_much_was_seen_the_screen_is_not_longer() {
    let roles = ["sender", "receiver", "broker"];
    for count in 1..=roles.len() {
        let all = roles[..count].iter().flat_map(|role| role_observations(role, 40));
        let file = traced(all.collect());
        assert_fits(&screen(&file, 100), 100);
        let narrow = screen(&file, 80);
        let wide: Vec<&str> = narrow.lines().filter(|line| display_width(line) > 80).collect();
        assert!(wide.is_empty(), "{wide:#?}");
        assert!(narrow.contains(" more system calls"), "{narrow}");
    }
}

#[test]
fn what_has_no_room_is_counted() {
    let roles = ["sender", "receiver", "broker", "fourth"];
    let all = roles.iter().flat_map(|role| role_observations(role, 40));
    let text = screen(&traced(all.collect()), 100);
    assert_fits(&text, 100);
    let hidden = text.lines().find(|line| line.starts_with("Not shown: ")).expect("a line");
    assert!(hidden.starts_with("Not shown: 1 more role; "), "{hidden}");
    assert!(hidden.contains("syscalls 12"), "a table and two histograms for each role: {hidden}");
}

#[test]
fn what_every_part_saw_is_shown_once_and_the_screen_is_not_longer() {
    let all = ["sender", "receiver"].map(|role| role_observations(role, 40)).concat();
    let file = traced_in_parts(3, &all);
    let text = screen(&file, 100);
    assert_fits(&text, 100);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words.matches(" times the time per message").count(), 3, "{text}");
    let few = ["sender", "receiver"].map(|role| role_observations(role, 1)).concat();
    let text = screen(&traced_in_parts(3, &few), 100);
    assert_eq!(text.matches("kernel buffers between the peers").count(), 1, "{text}");
    let views = TracedParts::new(&file.results).views();
    let of_objects = views.iter().filter(|one| one.instrument == kernel_objects::FACTS.name);
    assert_eq!(of_objects.count(), 1);
}

/// The part with the intrusive instruments failed; the other part saw only the rest.
#[test]
fn instruments_of_a_part_that_failed_are_named() {
    let mut file = traced_in_parts(2, &[call("sender", "write", 1_000), usage("sender")]);
    let lost =
        with_name_parts(file.results.samples.remove(1), parts_of("syscalls"), Side::Instrumented);
    file.results.samples.remove(0);
    file.results.observations.retain(|one| one.run_id != RUN);
    let failure = Failure::new(FailureKind::Timeout, "waiting for the receiver");
    file.results.failures = vec![FailedRun::new(lost.run, failure)];
    let text = screen(&file, 100);
    assert!(text.contains("Not observed, because the run failed: syscalls"), "{text}");
    assert!(text.contains("Time, context switches") && !text.contains("System calls"), "{text}");
}

/// The first part has no system calls, the second one has.
#[test]
fn system_calls_are_those_of_the_first_part_that_has_them() {
    let mut file = traced_in_parts(2, &[call("sender", "write", 1_000), usage("sender")]);
    file.results.header.plan.cases.reverse();
    let text = screen(&file, 100);
    assert!(text.starts_with("pipe/watched: "), "{text}");
    assert!(text.contains("System calls: sender (times"), "{text}");
}

fn parts_of(instrument: &str) -> NameParts {
    let named = NamedInstrument { instrument: instrument.to_owned(), ..NamedInstrument::default() };
    NameParts { instruments: vec![named], ..NameParts::default() }
}

#[test]
fn a_role_without_system_calls_is_mentioned() {
    let all = vec![call("sender", "write", 1_000), usage("sender"), usage("receiver")];
    let text = screen(&traced(all), 100);
    assert!(text.contains("System calls: receiver: none"), "{text}");
}

#[test]
fn a_disturbed_run_is_marked_and_no_run_has_no_screen() {
    let mut file = traced(vec![usage("sender")]);
    file.results.samples[1].excluded = Some(ExclusionReason::Disturbed);
    let text = screen(&file, 100);
    assert!(text.lines().next().is_some_and(|line| line.ends_with("disturbed)")), "{text}");
    assert!(text.ends_with("unknown (no valid pair of runs with and without it)"), "{text}");
    file.results.samples.clear();
    assert_eq!(trace_screen(&file, 100, MAX_LINES), None);
}
