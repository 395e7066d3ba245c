//! The command killed at random moments: its file can be read, nothing is left behind, and `resume` completes the file
//! with every run exactly once.
//!
//! `IPCPERF_RANDOM_KILLED_COMMANDS` sets the number of kills, `IPCPERF_SEED` the moments.

use std::time::{Duration, Instant};

use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rustix::process::Signal;

use crate::complete_file::{assert_whole, order};
use crate::processes::signal;
use crate::sandbox::{Finished, HANG, Sandbox};

/// Default seed for the moments.
const SEED: u64 = 20_261_120;
/// About twenty runs each: with a given total, with names in the file system, and calibrated.
const MATRICES: [&str; 9] = [
    "-m pipe,shm-ring -b 64,4096 --total 1MB --repetitions 4",
    "-m fifo,unix-stream-named -w stream,round-trip -b 4096 --total 100kB --repetitions 4",
    "-m file-ref --mode 1thread,2thread,2proc -b 4096 --total 1MB --repetitions 4",
    "-m iceoryx2-pubsub,iceoryx2-reqres --mode 2thread,2proc -b 4096 --total 1MB --repetitions 2",
    "-m pipe,tcp --mode 1thread,2thread -b 4096 --total 100kB --repetitions 4",
    "-m pipe,null --placement same,free -b 64 --total 64kB --repetitions 4",
    "-m pipe -w stream,round-trip -b 4KiB --repetitions 3",
    "-m fifo,tcp,shm-ring --mode 2exec -b 4096 --total 100kB --repetitions 4",
    "-m posix-mq,sysv-mq,sysv-sem,sysv-shm --mode 2exec -b 4096 --total 100kB --repetitions 3",
];
/// Time in which a command starts and writes its header; half of the moments are drawn from it.
const BEGINNING: Duration = Duration::from_millis(15);

/// Result of an uninterrupted command.
struct Reference {
    arguments: String,
    takes: Duration,
    order: Vec<(u64, String)>,
}

#[test]
fn a_command_killed_at_any_moment_can_be_gone_on_with() {
    let kills = from_environment("IPCPERF_RANDOM_KILLED_COMMANDS", 10);
    let seed = from_environment("IPCPERF_SEED", SEED);
    println!("{kills} killed commands; again: IPCPERF_SEED={seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let references = MATRICES.map(reference);
    for kill in 0..kills {
        let reference = &references[usize::try_from(kill).expect("a count") % MATRICES.len()];
        println!("kill {kill} of seed {seed}: {}", reference.arguments);
        kill_and_resume(reference, &mut random);
    }
}

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect(name))
}

/// Runs all of `matrix` and records its duration and order.
fn reference(matrix: &str) -> Reference {
    let sandbox = Sandbox::open();
    // A machine may stall for seconds; a command that never ends still ends the test.
    let arguments = format!("run {matrix} --seed 7 --timeout 600");
    let start = Instant::now();
    let out = sandbox.results();
    let run = format!("{arguments} --out {}", out.display());
    sandbox.finish(sandbox.detecting_noise(&run)).expect(0);
    let takes = start.elapsed();
    assert_whole(&out);
    Reference { arguments, takes, order: order(&out) }
}

fn kill_and_resume(reference: &Reference, random: &mut ChaCha8Rng) {
    let sandbox = Sandbox::open();
    let out = sandbox.results();
    let started = format!("{} --out {}", reference.arguments, out.display());
    kill(&sandbox, &started, moment(reference, random));
    if !can_be_shown(&sandbox) {
        return;
    }
    let resume = format!("resume {}", out.display());
    if random.random_bool(0.3) {
        kill(&sandbox, &resume, moment(reference, random));
        assert!(can_be_shown(&sandbox), "resume lost the header");
    }
    sandbox.finish(sandbox.detecting_noise(&resume)).expect(0);
    assert_whole(&out);
    assert_eq!(order(&out), reference.order);
    sandbox.assert_nothing_left();
}

/// Returns a moment between the start and shortly after the end.
fn moment(reference: &Reference, random: &mut ChaCha8Rng) -> Duration {
    let latest = *[BEGINNING, reference.takes.mul_f64(1.05)].choose(random).expect("two");
    random.random_range(Duration::ZERO..latest)
}

/// Starts the command and kills it after `moment`.
fn kill(sandbox: &Sandbox, arguments: &str, moment: Duration) {
    let command = sandbox.start(sandbox.detecting_noise(arguments));
    std::thread::sleep(moment);
    signal(command.id(), Signal::KILL);
    command.finish(HANG);
    sandbox.assert_nothing_left();
}

/// Whether the file can be shown. If not, it has no header yet, and both `show` and `resume` say so in one line.
fn can_be_shown(sandbox: &Sandbox) -> bool {
    let path = sandbox.results();
    let shown = sandbox.run(&format!("show {}", path.display()));
    if shown.status.code() == Some(0) {
        return true;
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(!written.contains('\n'), "a header, yet: {}", shown.stderr);
    let resume = format!("resume {}", path.display());
    let resumed = sandbox.finish(sandbox.detecting_noise(&resume));
    for refused in [shown, resumed] {
        assert_refused(refused);
    }
    false
}

fn assert_refused(finished: Finished) {
    let refused = finished.expect(2);
    assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("results.jsonl"), "{}", refused.stderr);
}
