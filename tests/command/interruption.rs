//! Interrupted in mid-run: what was measured is kept, and no process stays.

use std::os::unix::process::CommandExt;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::laboratory::{GRACE, Laboratory, NEVER_S, Started};
use crate::processes::{descendants, signal, wait_for};
use crate::results::{ResultsFile, number, runs_told};

/// Three cases, and more runs than a test waits for.
const LONG: &str = "-m pipe,tcp,shm-ring -b 64 --repetitions 1000";

/// Starts the long command in a process group of its own and waits until some runs are told and
/// another is under way.
fn under_way(laboratory: &Laboratory) -> Started {
    let mut command = laboratory.measuring(LONG);
    command.process_group(0);
    let command = laboratory.start(command);
    let told = || (runs_told(&laboratory.results()) >= 4).then_some(());
    wait_for("four runs", GRACE, told);
    wait_for("a run under way", GRACE, || {
        Some(()).filter(|()| descendants(command.id()).len() == 3)
    });
    command
}

fn assert_kept(laboratory: &Laboratory, command: Started) {
    let finished = command.finish(GRACE).expect(130);
    assert!(finished.stderr.contains("interrupted"), "{}", finished.stderr);
    let file = ResultsFile::read(&laboratory.results());
    assert_eq!(file.footer["complete"], false);
    assert!(file.samples.len() >= 4);
    assert_eq!(number(&file.footer, "samples"), file.samples.len() as u64);
    assert!(file.failures.is_empty(), "{:?}", file.failures);
    let shown = laboratory.run(&format!("show {}", laboratory.results().display())).expect(0);
    assert!(shown.stdout.contains("shm-ring"), "{}", shown.stdout);
    for told in [&finished.stdout, &shown.stdout] {
        assert!(told.contains("Not finished: ") && told.contains(" of 1000. "), "{told}");
    }
    laboratory.assert_nothing_left();
}

#[test]
fn a_signal_that_asks_to_end_keeps_what_was_measured() {
    for asked in [Signal::INT, Signal::TERM, Signal::HUP] {
        let laboratory = Laboratory::open();
        let command = under_way(&laboratory);
        signal(command.id(), asked);
        assert_kept(&laboratory, command);
    }
}

/// A terminal sends Ctrl-C to the whole group: no party must die of it and be told as a failure.
#[test]
fn a_signal_to_the_whole_group_does_the_same() {
    let laboratory = Laboratory::open();
    let command = under_way(&laboratory);
    let group = Pid::from_raw(i32::try_from(command.id()).expect("a number")).expect("a group");
    kill_process_group(group, Signal::INT).expect("the group is there");
    assert_kept(&laboratory, command);
}

#[test]
fn two_signals_in_a_row_end_it_no_worse() {
    let laboratory = Laboratory::open();
    let command = under_way(&laboratory);
    signal(command.id(), Signal::INT);
    signal(command.id(), Signal::TERM);
    assert_kept(&laboratory, command);
}

/// Killed outright, the command leaves its file without a footer.
#[test]
fn what_a_killed_command_wrote_can_be_shown() {
    let laboratory = Laboratory::open();
    let command = under_way(&laboratory);
    signal(command.id(), Signal::KILL);
    assert_eq!(command.finish(GRACE).status.code(), None);
    let shown = laboratory.run(&format!("show {}", laboratory.results().display())).expect(0);
    assert!(shown.stderr.contains("warning"), "{}", shown.stderr);
    assert!(shown.stderr.contains("no footer"), "{}", shown.stderr);
    assert!(shown.stdout.contains("pipe"), "{}", shown.stdout);
}

/// Killed outright, the command can end nothing: a run that would never end goes by itself.
#[test]
fn a_killed_command_takes_its_processes_along() {
    for mode in ["1thread", "2thread", "2proc"] {
        let laboratory = Laboratory::open();
        let arguments =
            format!("-m pipe -b 64 --total 1000000GB --mode {mode} --deadline {NEVER_S}");
        let command = laboratory.begin(&arguments);
        let processes = if mode == "2proc" { 3 } else { 1 };
        wait_for("a run under way", GRACE, || {
            Some(()).filter(|()| descendants(command.id()).len() == processes)
        });
        std::thread::sleep(Duration::from_millis(50));
        signal(command.id(), Signal::KILL);
        assert_eq!(command.finish(GRACE).status.code(), None);
        laboratory.assert_nothing_left();
    }
}
