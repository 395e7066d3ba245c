//! Processes killed at random moments of random cases: each run ends with a typed failure, and nothing is left behind.
//!
//! `IPCPERF_RANDOM_KILLS` sets their number, `IPCPERF_SEED` the seed.

use std::time::Duration;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rustix::process::Signal;

use crate::killed::{await_worker, endless};
use crate::mechanisms::in_parallel;
use crate::processes::{descendants, signal, wait_for};
use crate::random_cases::{RandomCase, draw, from_environment, generator, seed};
use crate::results::{ResultsFile, runs_recorded};
use crate::sandbox::{GRACE, HANG, NEVER_S, Sandbox, Started};

/// Failure kinds that report a death. A timeout would mean that nobody noticed it.
const TYPES: [&str; 3] = ["died", "peer-gone", "worker"];

#[test]
fn runs_whose_process_is_killed_at_random_end_typed_and_clean() {
    let (kills, seed) = (from_environment("IPCPERF_RANDOM_KILLS", 15), seed());
    println!("{kills} random kills; again: IPCPERF_SEED={seed}");
    // Odd indices kill a process in runs that may end by themselves, even ones in runs that cannot.
    in_parallel(usize::try_from(kills).expect("a count"), |index| {
        // Generator streams other than those of the random cases.
        let mut random = generator(seed, (1 << 32) + index);
        let Some(mut case) = draw(&mut random) else { return };
        // Touching a GiB can take longer than the timeout of the run.
        case.arguments = case.arguments.replace("--buffers cold", "--buffers rotate");
        let what = format!("kill {index} of seed {seed}: {}", case.whole());
        if is_refused(&case) {
            return;
        }
        if index % 2 == 0 {
            kill_in_endless_runs(&case, &mut random, &what);
        } else {
            kill_in_short_runs(&case, &mut random, &what);
        }
    });
}

/// Whether the case exceeds the limit of its mechanism.
fn is_refused(case: &RandomCase) -> bool {
    let planned = Sandbox::open().run(&format!("plan {}", case.whole()));
    planned.status.code() == Some(2)
}

/// Both runs of the case are endless: each must end by its kill.
fn kill_in_endless_runs(case: &RandomCase, random: &mut ChaCha8Rng, what: &str) {
    let sandbox = Sandbox::open();
    let command = start(&sandbox, &format!("{} {}", case.arguments, endless(case.is_paced)));
    let mut worker = 0;
    for run in 0..2 {
        worker = await_worker(&command, worker);
        kill_one(&command, random);
        let printed = || (runs_recorded(&sandbox.results()) > run).then_some(());
        wait_for(&format!("end of run {run}, {what}"), GRACE, printed);
    }
    command.finish(HANG).expect(4);
    assert_typed(&sandbox, 2, what);
}

/// The kill may come before, during, between or after the two runs.
fn kill_in_short_runs(case: &RandomCase, random: &mut ChaCha8Rng, what: &str) {
    let sandbox = Sandbox::open();
    let command = start(&sandbox, &case.whole());
    kill_one(&command, random);
    let finished = command.finish(HANG);
    let failures = match finished.status.code() {
        Some(0) => 0,
        Some(4) => 1,
        other => panic!("{what}: {other:?}, {}", finished.stderr),
    };
    assert_typed(&sandbox, failures, what);
}

fn start(sandbox: &Sandbox, arguments: &str) -> Started {
    sandbox.begin(&format!("{arguments} --timeout {NEVER_S}"))
}

/// Kills a random descendant of the command at a random moment. The set-up takes a few milliseconds; part of the
/// moments are drawn from that time.
fn kill_one(command: &Started, random: &mut ChaCha8Rng) {
    let latest_us = *[1_000, 5_000, 40_000].choose(random).expect("moments");
    std::thread::sleep(Duration::from_micros(random.random_range(0..latest_us)));
    if let Some(&victim) = descendants(command.id()).choose(random) {
        signal(victim, Signal::KILL);
    }
}

/// Checks that there are `failures` typed failures, that the file can be shown, and that nothing is left behind.
fn assert_typed(sandbox: &Sandbox, failures: usize, what: &str) {
    let file = ResultsFile::read(&sandbox.results());
    let kinds = file.failure_kinds();
    assert_eq!(kinds.len(), failures, "{what}: {kinds:?}");
    assert!(kinds.iter().all(|kind| TYPES.contains(kind)), "{what}: {kinds:?}");
    assert_eq!(file.samples.len() + failures, 2, "{what}");
    let results = sandbox.results();
    sandbox.run(&format!("show {}", results.display())).expect(0);
    sandbox.assert_nothing_left();
}
