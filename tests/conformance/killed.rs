//! A process killed during a run: the run fails at once with a report, and the next one continues.

use std::time::Duration;

use ipcperf_engine::channel::Mechanism;
use ipcperf_model::Mode;
use ipcperf_model::workload::{self, WorkloadKind};
use rustix::process::Signal;

use crate::max_message::largest_message;
use crate::mechanisms::{can_run, for_each, peers, processes_with_peers};
use crate::processes::{children, cpu_time, descendants, signal, wait_for};
use crate::results::{ResultsFile, runs_recorded};
use crate::sandbox::{GRACE, HANG, NEVER_S, Sandbox, Started};

/// Total CPU time after which a run counts as in progress: more than the set-up takes.
const UNDER_WAY: Duration = Duration::from_millis(20);

/// Number of peers of workloads with several, or of pairs.
const PEERS: usize = 2;

#[test]
fn a_killed_process_fails_its_run_at_once_and_the_rest_goes_on() {
    for_each(|mechanism| {
        for mode in mechanism.modes {
            for workload in workload::WORKLOADS {
                // Several threads end with their process, like two.
                let has_processes = matches!(mode, Mode::TwoProcesses | Mode::TwoPrograms);
                let is_new = has_processes || !workload.kind.takes_peers();
                if is_new && can_run(mechanism, *mode, workload.kind) {
                    kill_each(mechanism, *mode, workload.kind);
                }
            }
        }
    });
}

/// Kills one process per run of `mode`.
fn kill_each(mechanism: &Mechanism, mode: Mode, workload: WorkloadKind) {
    let sandbox = Sandbox::open();
    let processes = processes_with_peers(mechanism, mode, workload, PEERS);
    let victims = victims(processes, peers(workload, PEERS));
    let runs = victims.len();
    let several = if workload.takes_peers() { format!("--peers {PEERS}") } else { String::new() };
    let arguments = format!(
        "-m {} -w {} {several} -b {} {} --mode {} --timeout {NEVER_S} --repetitions {}",
        mechanism.name,
        workload.name(),
        largest_message(mechanism, 64),
        endless(workload == WorkloadKind::Paced),
        mode.name(),
        runs - 1,
    );
    let command = sandbox.begin(&arguments);
    let mut worker_before = 0;
    for (run, victim) in victims.into_iter().enumerate() {
        worker_before = await_worker(&command, worker_before);
        let all = await_under_way(&command, processes);
        signal(all[victim], Signal::KILL);
        let printed = || (runs_recorded(&sandbox.results()) > run).then_some(());
        wait_for(&format!("end of run {run}"), GRACE, printed);
    }
    command.finish(HANG).expect(4);
    assert_reported(&sandbox, runs);
}

/// Returns the positions of the processes to kill: all, or of several peers, which come last, the first and the last. A
/// worker without peers is killed twice, so that a run follows.
fn victims(processes: usize, peers: usize) -> Vec<usize> {
    match processes {
        1 => vec![0, 0],
        _ if peers > 2 => vec![0, processes - peers, processes - 1],
        _ => (0..processes).collect(),
    }
}

/// Arguments of a run that does not end by itself while a test waits.
pub(crate) const fn endless(is_paced: bool) -> &'static str {
    if is_paced { "--rate 5k --duration 3600" } else { "--total 1000000GB" }
}

/// Waits until the run in progress has `processes` processes that have used more CPU time than the set-up takes, and
/// returns them.
pub(crate) fn await_under_way(command: &Started, processes: usize) -> Vec<u32> {
    wait_for("run under way", HANG, || {
        let all = descendants(command.id());
        let worked: Duration = all.iter().map(|&pid| cpu_time(pid)).sum();
        Some(all).filter(|all| all.len() == processes && worked >= UNDER_WAY)
    })
}

/// Returns the worker of the next run: a child of the command other than `before`, which must have been reaped.
pub(crate) fn await_worker(command: &Started, before: u32) -> u32 {
    let next = || children(command.id()).into_iter().find(|&worker| worker != before);
    let worker = wait_for("worker", HANG, next);
    assert!(!children(command.id()).contains(&before), "worker {before} was not reaped");
    worker
}

fn assert_reported(sandbox: &Sandbox, runs: usize) {
    let file = ResultsFile::read(&sandbox.results());
    assert_eq!(file.failure_kinds(), vec!["died"; runs], "{:?}", file.failures);
    for failure in &file.failures {
        assert!(failure["where"].as_str().is_some_and(|place| place.contains("signal 9")));
        assert_eq!(failure["transient"], true, "whoever killed it was no mechanism: {failure}");
    }
    assert_eq!(file.footer["complete"], false, "resume makes them again");
    let results = sandbox.results();
    sandbox.run(&format!("show {}", results.display())).expect(0);
    sandbox.assert_nothing_left();
}
