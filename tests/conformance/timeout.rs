//! The timeout: a run that does not end is ended, reported and cleaned up.

use std::time::Duration;

use ipcperf_model::Mode;
use ipcperf_model::workload::{WORKLOADS, WorkloadKind};
use rustix::process::Signal;

use crate::killed::await_under_way;
use crate::max_message::largest_message;
use crate::mechanisms::{can_run, for_each, modes};
use crate::processes::{find_within, signal, wait_for};
use crate::results::{ResultsFile, number, runs_recorded};
use crate::sandbox::{GRACE, HANG, NEVER_S, Sandbox};

/// More than any machine moves before the timeout.
const ENDLESS: &str = "1000000GB";

/// Maximum time for the command to become idle once its peers work: far less than a run takes.
const SETTLING: Duration = Duration::from_secs(10);

#[test]
fn an_impossible_total_ends_at_the_deadline() {
    for_each(|mechanism| {
        let sandbox = Sandbox::open();
        let arguments = format!(
            "-m {} -w stream,round-trip -b {} --total {ENDLESS} --timeout 0.1 --mode {} \
             --repetitions 1",
            mechanism.name,
            largest_message(mechanism, 64),
            modes(mechanism)
        );
        let runs = 2 * 2 * mechanism.modes.len();
        let command = sandbox.begin(&arguments);
        assert_each_run_ends(&sandbox, runs, Duration::from_millis(100));
        command.finish(HANG).expect(4);
        let file = ResultsFile::read(&sandbox.results());
        assert_eq!(file.failure_kinds(), vec!["timeout"; runs]);
        assert_took(&file, runs, Duration::from_millis(100));
        assert_eq!(file.footer["complete"], true);
        sandbox.assert_nothing_left();
    });
}

/// Also with several peers, none of which may be left behind.
#[test]
fn an_impossible_total_of_several_peers_ends_at_the_deadline() {
    let kinds = || WORKLOADS.iter().map(|facts| facts.kind).filter(|kind| kind.takes_peers());
    for_each(|mechanism| {
        let can_run = |kind: &WorkloadKind| can_run(mechanism, Mode::TwoProcesses, *kind);
        let workloads: Vec<&str> = kinds().filter(can_run).map(WorkloadKind::name).collect();
        if workloads.is_empty() {
            return;
        }
        let sandbox = Sandbox::open();
        let arguments = format!(
            "-m {} -w {} --peers 3 -b {} --total {ENDLESS} --timeout 0.1 --repetitions 1",
            mechanism.name,
            workloads.join(","),
            largest_message(mechanism, 64)
        );
        sandbox.finish(sandbox.measuring(&arguments)).expect(4);
        let file = ResultsFile::read(&sandbox.results());
        assert_eq!(file.failure_kinds(), vec!["timeout"; 2 * workloads.len()]);
        sandbox.assert_nothing_left();
    });
}

/// Checks that each of `runs` runs gets its line. How soon after its timeout depends on the machine; the failure states
/// that the timeout ended the run.
fn assert_each_run_ends(sandbox: &Sandbox, runs: usize, deadline: Duration) {
    for run in 1..=runs {
        let printed = || (runs_recorded(&sandbox.results()) >= run).then_some(());
        wait_for(&format!("end of run {run}"), deadline + GRACE, printed);
    }
}

/// Checks by the clock of the command that none of its `runs` ended before its timeout.
fn assert_took(file: &ResultsFile, runs: usize, deadline: Duration) {
    let runs = u32::try_from(runs).expect("few runs");
    let elapsed = Duration::from_nanos(number(&file.footer, "elapsed_ns"));
    assert!(elapsed >= runs * deadline, "a run ended before its timeout: {elapsed:?}");
}

/// A stopped peer neither works nor dies: only the timeout ends such a run.
#[test]
fn a_peer_that_stands_still_ends_at_the_deadline() {
    let sandbox = Sandbox::open();
    let arguments = format!("-m pipe -b 64 --total {ENDLESS} --timeout 2 --repetitions 1");
    let command = sandbox.begin(&arguments);
    let all = await_under_way(&command, 3);
    signal(all[2], Signal::STOP);
    assert_each_run_ends(&sandbox, 2, Duration::from_secs(2));
    command.finish(HANG).expect(4);
    let file = ResultsFile::read(&sandbox.results());
    assert_eq!(file.failure_kinds(), ["timeout"; 2]);
    assert_took(&file, 2, Duration::from_secs(2));
    sandbox.assert_nothing_left();
}

/// While a run is in progress, the command sleeps: it is never scheduled.
#[test]
fn the_command_sleeps_while_a_run_is_under_way() {
    let sandbox = Sandbox::open();
    let arguments = format!("-m pipe -b 64 --total {ENDLESS} --timeout {NEVER_S} --repetitions 1");
    let command = sandbox.begin(&arguments);
    await_under_way(&command, 3);
    // The peers are working, but the command may need a little longer to finish setting up the run.
    let sleeps = || {
        let before = switches(command.id());
        std::thread::sleep(Duration::from_millis(500));
        (switches(command.id()) == before).then_some(())
    };
    assert!(find_within(SETTLING, sleeps).is_some(), "{:?}", switches(command.id()));
}

/// Returns the lines of `/proc/PID/status` that count context switches of the process.
fn switches(pid: u32) -> Vec<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a live process");
    let lines = status.lines().filter(|line| line.contains("ctxt_switches"));
    let counts: Vec<String> = lines.map(str::to_owned).collect();
    assert_eq!(counts.len(), 2);
    counts
}
