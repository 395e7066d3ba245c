//! The command itself killed at random moments of its life: its file can be read, nothing is left,
//! and `resume` completes it, with every run once.
//!
//! `IPCPERF_RANDOM_KILLED_COMMANDS` says how many, `IPCPERF_SEED` which moments.

use std::time::{Duration, Instant};

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::process::Signal;

use crate::laboratory::{Finished, HANG, Laboratory};
use crate::processes::signal;
use crate::whole::{assert_whole, order};

/// Which moments are drawn where no seed is given.
const SEED: u64 = 20_261_120;
/// Twenty runs each, or so: with a given total, with names in the file system, and calibrated.
const MATRICES: [&str; 7] = [
    "-m pipe,shm-ring -b 64,4096 --total 1MB --repetitions 4",
    "-m fifo,unix-stream-named -w stream,round-trip -b 4096 --total 100kB --repetitions 4",
    "-m file-ref --mode 1thread,2thread,2proc -b 4096 --total 1MB --repetitions 4",
    "-m iceoryx2-pubsub,iceoryx2-reqres --mode 2thread,2proc -b 4096 --total 1MB --repetitions 2",
    "-m pipe,tcp --mode 1thread,2thread -b 4096 --total 100kB --repetitions 4",
    "-m pipe,null --placement same,free -b 64 --total 64kB --repetitions 4",
    "-m pipe -w stream,round-trip -b 4KiB --repetitions 3",
];
/// The time in which a command starts and writes its header: it gets its share of the moments.
const BEGINNING: Duration = Duration::from_millis(15);

/// What a command does that nobody kills.
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

/// Runs the whole of `matrix` and remembers how long it took, and in which order.
fn reference(matrix: &str) -> Reference {
    let laboratory = Laboratory::open();
    // A machine may stand still for seconds; what does not end at all still ends the test.
    let arguments = format!("run {matrix} --seed 7 --deadline 600");
    let start = Instant::now();
    let out = laboratory.results();
    let run = format!("{arguments} --out {}", out.display());
    laboratory.finish(laboratory.detecting_noise(&run)).expect(0);
    let takes = start.elapsed();
    assert_whole(&out);
    Reference { arguments, takes, order: order(&out) }
}

fn kill_and_resume(reference: &Reference, random: &mut ChaCha8Rng) {
    let laboratory = Laboratory::open();
    let out = laboratory.results();
    let started = format!("{} --out {}", reference.arguments, out.display());
    kill(&laboratory, &started, moment(reference, random));
    if !can_be_shown(&laboratory) {
        return;
    }
    let resume = format!("resume {}", out.display());
    if random.random_bool(0.3) {
        kill(&laboratory, &resume, moment(reference, random));
        assert!(can_be_shown(&laboratory), "resume lost the header");
    }
    laboratory.finish(laboratory.detecting_noise(&resume)).expect(0);
    assert_whole(&out);
    assert_eq!(order(&out), reference.order);
    laboratory.assert_nothing_left();
}

/// A moment from before the header to after the footer.
fn moment(reference: &Reference, random: &mut ChaCha8Rng) -> Duration {
    let latest = *[BEGINNING, reference.takes.mul_f64(1.05)].choose(random).expect("two");
    random.random_range(Duration::ZERO..latest)
}

/// Starts the command, and kills it after `moment`.
fn kill(laboratory: &Laboratory, arguments: &str, moment: Duration) {
    let command = laboratory.start(laboratory.detecting_noise(arguments));
    std::thread::sleep(moment);
    signal(command.id(), Signal::KILL);
    command.finish(HANG);
    laboratory.assert_nothing_left();
}

/// Whether the file can be shown: if not, there is no header yet, and both `show` and `resume` say
/// so in a line.
fn can_be_shown(laboratory: &Laboratory) -> bool {
    let path = laboratory.results();
    let shown = laboratory.run(&format!("show {}", path.display()));
    if shown.status.code() == Some(0) {
        return true;
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(!written.contains('\n'), "a header, yet: {}", shown.stderr);
    let resume = format!("resume {}", path.display());
    let resumed = laboratory.finish(laboratory.detecting_noise(&resume));
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
