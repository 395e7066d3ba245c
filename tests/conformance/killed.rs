//! A process killed in mid-run: the run fails at once and is told, the next one goes on.

use std::time::Duration;

use ipcperf_engine::mechanism::Mechanism;
use ipcperf_engine::{Mode, workload};
use rustix::process::Signal;

use crate::carried::carried;
use crate::laboratory::{HANG, Laboratory, Started};
use crate::mechanisms::{for_each, processes};
use crate::processes::{children, descendants, signal, wait_for};
use crate::results::{ResultsFile, runs_told};

/// Far longer than noticing a death may take: a run that ends by it was not noticed.
const DEADLINE: Duration = Duration::from_secs(20);

#[test]
fn a_killed_process_fails_its_run_at_once_and_the_rest_goes_on() {
    for_each(|mechanism| {
        for mode in mechanism.modes {
            for workload in workload::WORKLOADS {
                kill_each(mechanism, *mode, workload.name);
            }
        }
    });
}

/// Kills, run by run, each of the processes of `mode` once.
fn kill_each(mechanism: &Mechanism, mode: Mode, workload: &str) {
    let laboratory = Laboratory::open();
    let processes = processes(mechanism, mode);
    let runs = processes.max(3);
    let arguments = format!(
        "-m {} -w {workload} -b {} --total 1000000GB --mode {} --deadline {} --repetitions {}",
        mechanism.name,
        carried(mechanism, 64),
        mode.name(),
        DEADLINE.as_secs(),
        runs - 1,
    );
    let command = laboratory.begin(&arguments);
    let mut worker_before = 0;
    for run in 0..runs {
        worker_before = await_worker(&command, worker_before);
        let all = wait_for("run under way", HANG, || {
            Some(descendants(command.id())).filter(|all| is_under_way(all, processes))
        });
        signal(all[run % processes], Signal::KILL);
        let told = || (runs_told(&laboratory.results()) > run).then_some(());
        wait_for(&format!("end of run {run}"), DEADLINE / 2, told);
    }
    command.finish(HANG).expect(4);
    assert_told(&laboratory, runs);
}

/// Whether all processes are there and have worked for longer than setting up takes.
fn is_under_way(all: &[u32], processes: usize) -> bool {
    let ticks: u64 = all.iter().filter_map(|&pid| ticks_used(pid)).sum();
    all.len() == processes && ticks >= 2
}

/// The CPU time of a process in clock ticks: the 14th and 15th fields of its `stat`, of which the
/// second, the program's name, may hold spaces.
fn ticks_used(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = stat.rsplit_once(')')?.1.split_whitespace();
    let used = fields.skip(11).take(2).map(str::parse::<u64>);
    used.sum::<Result<u64, _>>().ok()
}

/// The worker of the next run: a child of the command that is not `before`, which must be gone.
pub(crate) fn await_worker(command: &Started, before: u32) -> u32 {
    let next = || children(command.id()).into_iter().find(|&worker| worker != before);
    let worker = wait_for("worker", HANG, next);
    assert!(!children(command.id()).contains(&before), "worker {before} was not reaped");
    worker
}

fn assert_told(laboratory: &Laboratory, runs: usize) {
    let file = ResultsFile::read(&laboratory.results());
    assert_eq!(file.failure_kinds(), vec!["died"; runs], "{:?}", file.failures);
    for failure in &file.failures {
        assert!(failure["where"].as_str().is_some_and(|place| place.contains("signal 9")));
        assert_eq!(failure["transient"], true, "whoever killed it was no mechanism: {failure}");
    }
    assert_eq!(file.footer["complete"], false, "resume makes them again");
    let results = laboratory.results();
    laboratory.run(&format!("show {}", results.display())).expect(0);
    laboratory.assert_nothing_left();
}
