//! The deadline: a run that does not end is ended, told, and cleaned up after.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::carried::carried;
use crate::laboratory::{GRACE, HANG, Laboratory};
use crate::mechanisms::{for_each, modes};
use crate::processes::{descendants, patience, signal, wait_for};
use crate::results::{ResultsFile, runs_told};

/// More than any machine moves before the deadline.
const ENDLESS: &str = "1000000GB";

#[test]
fn an_impossible_total_ends_at_the_deadline() {
    for_each(|mechanism| {
        let laboratory = Laboratory::open();
        let arguments = format!(
            "-m {} -w stream,round-trip -b {} --total {ENDLESS} --deadline 0.1 --mode {} \
             --repetitions 1",
            mechanism.name,
            carried(mechanism, 64),
            modes(mechanism)
        );
        let runs = 2 * 2 * mechanism.modes.len();
        let command = laboratory.begin(&arguments);
        assert_each_run_ends(&laboratory, runs, Duration::from_millis(100));
        command.finish(HANG).expect(4);
        let file = ResultsFile::read(&laboratory.results());
        assert_eq!(file.failure_kinds(), vec!["deadline"; runs]);
        assert_eq!(file.footer["complete"], true);
        laboratory.assert_nothing_left();
    });
}

/// Each of `runs` runs has its line within its deadline and [`GRACE`] after the one before, but not
/// before its deadline.
fn assert_each_run_ends(laboratory: &Laboratory, runs: usize, deadline: Duration) {
    let start = Instant::now();
    for run in 1..=runs {
        let told = || (runs_told(&laboratory.results()) >= run).then_some(());
        wait_for(&format!("end of run {run}"), deadline + GRACE, told);
    }
    let others = u32::try_from(runs - 1).expect("few runs");
    assert!(start.elapsed() >= others * deadline, "a run ended before its deadline");
}

/// A party that is stopped neither moves nor dies: only the deadline ends such a run.
#[test]
fn a_party_that_stands_still_ends_at_the_deadline() {
    let laboratory = Laboratory::open();
    let arguments = format!("-m pipe -b 64 --total {ENDLESS} --deadline 0.5 --repetitions 1");
    let command = laboratory.begin(&arguments);
    let party = wait_for("party", GRACE, || descendants(command.id()).get(2).copied());
    signal(party, Signal::STOP);
    assert_each_run_ends(&laboratory, 2, Duration::from_millis(500));
    command.finish(HANG).expect(4);
    let file = ResultsFile::read(&laboratory.results());
    assert_eq!(file.failure_kinds(), ["deadline"; 2]);
    laboratory.assert_nothing_left();
}

/// While a run is under way the command sleeps: it is not scheduled once.
#[test]
fn the_command_sleeps_while_a_run_is_under_way() {
    let laboratory = Laboratory::open();
    let arguments = format!(
        "-m pipe -b 64 --total {ENDLESS} --deadline {} --repetitions 1",
        patience(Duration::from_secs(1)).as_secs(),
    );
    let command = laboratory.begin(&arguments);
    wait_for("party", GRACE, || descendants(command.id()).get(2).copied());
    // By then it has set up the run.
    std::thread::sleep(patience(Duration::from_millis(50)));
    let before = switches(command.id());
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(switches(command.id()), before);
}

/// The lines of `/proc/PID/status` that count how often the process was put on a CPU.
fn switches(pid: u32) -> Vec<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a live process");
    let lines = status.lines().filter(|line| line.contains("ctxt_switches"));
    let counts: Vec<String> = lines.map(str::to_owned).collect();
    assert_eq!(counts.len(), 2);
    counts
}
