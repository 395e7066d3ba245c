//! `ipcperf resume`: what it continues, what it leaves alone and what it refuses.

use std::fs;

use rustix::process::Signal;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::Value;

use crate::complete_file::{assert_consistent, assert_whole};
use crate::processes::{signal, wait_for};
use crate::results::{ResultsFile, lines, number, runs_recorded, text};
use crate::sandbox::{HANG, Sandbox, Started, with_time};
use crate::skip::skip;

/// A matrix that is measured almost at once.
const SHORT: &str = "-m null,pipe -b 64 --total 6400 --repetitions 2";
/// A matrix that takes long enough to be interrupted.
const LONGER: &str = "-m pipe,shm-ring -b 64 --total 64kB --repetitions 60";

/// Returns `ipcperf run` with the default number of attempts.
fn run(sandbox: &Sandbox, arguments: &str) -> String {
    with_time(&format!("run {arguments} --out {}", sandbox.results().display()))
}

fn resume(sandbox: &Sandbox) -> String {
    format!("resume {}", sandbox.results().display())
}

/// Returns a sandbox with a complete file of [`SHORT`].
fn complete() -> Sandbox {
    let sandbox = Sandbox::open();
    sandbox.run(&run(&sandbox, SHORT)).expect(0);
    assert_whole(&sandbox.results());
    sandbox
}

/// Starts the command and interrupts it after `runs` more runs have been stored.
fn interrupt(sandbox: &Sandbox, arguments: &str, runs: usize) {
    let before = fs::read(sandbox.results());
    let interrupted = || {
        let recorded = runs_recorded(&sandbox.results());
        let command = sandbox.start(sandbox.command(arguments));
        wait_for_runs(sandbox, recorded + runs);
        signal(command.id(), Signal::INT);
        let ended = command.finish(HANG);
        if ended.code() != Some(0) {
            return Some(ended);
        }
        // On a busy machine the signal may come too late.
        match &before {
            Ok(bytes) => fs::write(sandbox.results(), bytes).expect("the file as it was"),
            Err(_) => fs::remove_file(sandbox.results()).expect("no file, as before"),
        }
        None
    };
    wait_for("an interrupted command", HANG, interrupted).expect(130);
    let file = assert_consistent(&sandbox.results());
    assert_eq!(file.footer["complete"], false);
}

fn wait_for_runs(sandbox: &Sandbox, runs: usize) {
    let printed = || (runs_recorded(&sandbox.results()) >= runs).then_some(());
    wait_for("runs", HANG, printed);
}

/// Checks that `resume` refuses the file in one line that contains all `words`, and does not change it.
fn refused(sandbox: &Sandbox, words: &[&str]) {
    let before = fs::read(sandbox.results()).expect("a file");
    let refused = sandbox.run(&resume(sandbox)).expect(2);
    assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
    assert_eq!(refused.stdout, "");
    for word in words.iter().chain(&["results.jsonl"]) {
        assert!(refused.stderr.contains(word), "no `{word}`: {}", refused.stderr);
    }
    assert_eq!(fs::read(sandbox.results()).expect("a file"), before);
}

/// Applies `change` to the header of the file.
fn change_header(sandbox: &Sandbox, change: impl Fn(&mut Value)) {
    let mut all = lines(&sandbox.results());
    change(&mut all[0]);
    let text: String = all.iter().map(|line| format!("{line}\n")).collect();
    fs::write(sandbox.results(), text).expect("a file");
}

/// Truncates the file to its first `count` lines.
fn keep_lines(sandbox: &Sandbox, count: usize) {
    let text = fs::read_to_string(sandbox.results()).expect("a file");
    let kept: String = text.split_inclusive('\n').take(count).collect();
    fs::write(sandbox.results(), kept).expect("a file");
}

#[test]
fn what_was_interrupted_is_completed_however_often() {
    let sandbox = Sandbox::open();
    interrupt(&sandbox, &run(&sandbox, LONGER), 5);
    let kept = ResultsFile::read(&sandbox.results()).samples;
    interrupt(&sandbox, &resume(&sandbox), 5);
    sandbox.run(&resume(&sandbox)).expect(0);
    let whole = assert_whole(&sandbox.results());
    assert_eq!(kept, whole.samples[..kept.len()], "what was measured stays as it is");
    sandbox.assert_nothing_left();
}

#[test]
fn a_complete_file_stays_as_it_is() {
    let sandbox = complete();
    let before = fs::read_to_string(sandbox.results()).expect("a file");
    for _ in 0..2 {
        let resumed = sandbox.run(&resume(&sandbox)).expect(0);
        assert!(resumed.stdout.contains("pipe"), "{}", resumed.stdout);
        assert!(resumed.stderr.contains("no run is missing"), "{}", resumed.stderr);
        assert_eq!(fs::read_to_string(sandbox.results()).expect("a file"), before);
    }
}

#[test]
fn a_torn_last_line_is_measured_again() {
    let sandbox = complete();
    keep_lines(&sandbox, 4);
    let text = fs::read_to_string(sandbox.results()).expect("a file");
    fs::write(sandbox.results(), &text[..text.len() - 20]).expect("a file");
    sandbox.run(&resume(&sandbox)).expect(0);
    let whole = assert_whole(&sandbox.results());
    assert_eq!(whole.samples.len(), 6);
}

#[test]
fn a_header_alone_is_enough() {
    let sandbox = complete();
    keep_lines(&sandbox, 1);
    sandbox.run(&resume(&sandbox)).expect(0);
    assert_whole(&sandbox.results());
}

#[test]
fn what_lacks_its_footer_only_gets_one() {
    let sandbox = complete();
    let all = lines(&sandbox.results()).len();
    keep_lines(&sandbox, all - 1);
    let before = ResultsFile::read(&sandbox.results()).samples;
    sandbox.run(&resume(&sandbox)).expect(0);
    assert_eq!(assert_whole(&sandbox.results()).samples, before);
}

#[test]
fn a_disturbed_run_that_lacks_its_repeat_gets_it() {
    let sandbox = complete();
    let mut all = lines(&sandbox.results());
    all.truncate(1 + 3);
    all[3]["excluded"] = Value::from("disturbed");
    let text: String = all.iter().map(|line| format!("{line}\n")).collect();
    fs::write(sandbox.results(), text).expect("a file");
    sandbox.run(&resume(&sandbox)).expect(0);
    let whole = assert_whole(&sandbox.results());
    let (held_up, repeat) = (&whole.samples[2], &whole.samples[3]);
    assert_eq!(number(repeat, "attempt"), 2, "{repeat}");
    for key in ["block", "case_id"] {
        assert_eq!(held_up[key], repeat[key]);
    }
}

#[test]
fn failed_runs_are_not_repeated() {
    let sandbox = Sandbox::open();
    let failing = "-m pipe -b 64 --total 1000000GB --timeout 0.1 --repetitions 4";
    sandbox.run(&run(&sandbox, failing)).expect(4);
    let failures = ResultsFile::read(&sandbox.results()).failures;
    sandbox.run(&resume(&sandbox)).expect(4);
    keep_lines(&sandbox, 1 + 3);
    sandbox.run(&resume(&sandbox)).expect(4);
    let whole = assert_whole(&sandbox.results());
    assert_eq!((whole.failures.len(), &whole.failures[..3]), (5, &failures[..3]));
}

#[test]
fn resume_and_show_print_the_same_objects() {
    let sandbox = complete();
    for lines in [1, 4, 100] {
        keep_lines(&sandbox, lines);
        let resumed = sandbox.run(&format!("{} --json", resume(&sandbox))).expect(0);
        let show = format!("show --json {}", sandbox.results().display());
        let shown = sandbox.run(&show).expect(0);
        let objects: Vec<Value> = serde_json::from_str(&resumed.stdout).expect("an array");
        assert_eq!(objects, serde_json::from_str::<Vec<Value>>(&shown.stdout).expect("an array"));
        assert_eq!(objects.len(), 2);
    }
}

#[test]
fn cases_that_stop_by_themselves_are_gone_on_with() {
    let sandbox = Sandbox::open();
    // Takes long enough to be interrupted before the stopping rule ends it.
    let until = "-m pipe,null -b 64 --total 4MB --until-ci 50 --max-repetitions 200";
    interrupt(&sandbox, &run(&sandbox, until), 5);
    sandbox.run(&resume(&sandbox)).expect(0);
    let whole = assert_whole(&sandbox.results());
    assert!(whole.samples.iter().all(|sample| number(sample, "block") <= 200));
}

/// Later samples depend on the warm-up time found by the first run.
#[test]
fn calibrated_runs_are_gone_on_with() {
    let sandbox = Sandbox::open();
    let calibrated = "-m pipe,unix-stream -b 4KiB --repetitions 6";
    interrupt(&sandbox, &run(&sandbox, calibrated), 4);
    sandbox.run(&resume(&sandbox)).expect(0);
    for sample in assert_whole(&sandbox.results()).samples {
        assert!(number(&sample, "elapsed_ns") >= 16_000_000, "{sample}");
    }
}

#[test]
fn what_is_no_results_file_is_refused() {
    let sandbox = Sandbox::open();
    for contents in ["", "hello\n", "{\"kind\":\"header\""] {
        fs::write(sandbox.results(), contents).expect("a file");
        refused(&sandbox, &["not an ipcperf results file"]);
    }
    let missing = sandbox.run("resume /nowhere/results.jsonl").expect(2);
    assert!(missing.stderr.contains("cannot read /nowhere/results.jsonl"), "{}", missing.stderr);
}

#[test]
fn a_file_without_its_plan_is_refused() {
    let sandbox = complete();
    let drop_specs = |header: &mut Value| {
        header["plan"].as_object_mut().and_then(|plan| plan.remove("specs")).expect("specs");
    };
    change_header(&sandbox, drop_specs);
    refused(&sandbox, &["did not store its plan"]);
    sandbox.run(&format!("show {}", sandbox.results().display())).expect(0);
}

#[test]
fn a_file_of_another_machine_is_refused_with_both() {
    let facts =
        [("cpu_model", "CPU (Z80"), ("kernel", "kernel (2.4.0"), ("kernel_build", "kernel build")];
    for (fact, words) in facts {
        let sandbox = complete();
        keep_lines(&sandbox, 3);
        let foreign = words.split_once('(').map_or("#1 SMP", |(_, word)| word);
        change_header(&sandbox, |header| header["environment"][fact] = Value::from(foreign));
        refused(&sandbox, &["another", words, "start a new measurement"]);
    }
}

/// Another version may resume the file, with a warning for readers of the file.
#[test]
fn a_file_of_another_version_is_gone_on_with_and_both_are_named() {
    let sandbox = complete();
    keep_lines(&sandbox, 3);
    change_header(&sandbox, |header| header["environment"]["version"] = Value::from("0.0.1"));
    let resumed = sandbox.run(&resume(&sandbox)).expect(0);
    for word in ["warning", "0.0.1", env!("CARGO_PKG_VERSION")] {
        assert!(resumed.stderr.contains(word), "no `{word}`: {}", resumed.stderr);
    }
}

#[test]
fn a_file_that_another_command_writes_to_is_refused() {
    let sandbox = Sandbox::open();
    let command: Started = sandbox.start(sandbox.command(&run(&sandbox, LONGER)));
    wait_for_runs(&sandbox, 2);
    // It must not end while the others start.
    signal(command.id(), Signal::STOP);
    let place = Sandbox::open();
    let resumed = place.run(&resume(&sandbox)).expect(2);
    assert!(resumed.stderr.contains("another ipcperf is writing"), "{}", resumed.stderr);
    let replaced = place.run(&format!("{} --force", run(&sandbox, SHORT))).expect(2);
    assert!(replaced.stderr.contains("another ipcperf is writing"), "{}", replaced.stderr);
    signal(command.id(), Signal::CONT);
    command.finish(HANG).expect(0);
    assert_whole(&sandbox.results());
}

#[test]
fn a_cpu_outside_the_cpuset_is_refused_with_those_inside() {
    let allowed = sched_getaffinity(None).expect("the affinity");
    let mut cpus = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu));
    let (Some(first), Some(second)) = (cpus.next(), cpus.next()) else {
        return skip("resume with fewer CPUs", "there is but one CPU");
    };
    let sandbox = Sandbox::open();
    let arguments =
        format!("-m null -b 64 --total 64 --repetitions 1 --placement {first}:{second}");
    sandbox.run(&run(&sandbox, &arguments)).expect(0);
    keep_lines(&sandbox, 2);
    let mut first_only = CpuSet::new();
    first_only.set(first);
    // Applies to this thread only; its children inherit it.
    sched_setaffinity(None, &first_only).expect("fewer CPUs");
    refused(&sandbox, &[&format!("CPU {second}"), &format!("may use ({first})")]);
    assert_eq!(text(&lines(&sandbox.results())[1], "kind"), "sample");
}
