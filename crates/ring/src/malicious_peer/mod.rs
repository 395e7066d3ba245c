//! A peer that writes anything anywhere in the shared memory while the honest side works on it. The honest side runs in
//! a separate process, where parts of the mapping and buffers lie between inaccessible pages: any invalid access kills
//! it, and the test sees its exit status.
//!
//! `IPCPERF_RING_ADVERSARY_SECONDS` is the duration of the lies in each of the two tests, s [2];
//! `IPCPERF_RING_ADVERSARY_SEED` repeats the options and lies of an earlier test.

mod adversary;
mod area;
mod honest;
mod random;
mod round;

use std::env;
use std::process::{Child, Command, Output, Stdio, exit};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use crate::WaitStrategy;
use round::{Counts, Role, end_with_parent, round};

const MODES: [WaitStrategy; 7] = [
    WaitStrategy::SpinThenFutex,
    WaitStrategy::SpinFor(Duration::from_micros(20)),
    WaitStrategy::Spin,
    WaitStrategy::Futex,
    WaitStrategy::Yield,
    WaitStrategy::YieldFor(Duration::from_micros(20)),
    WaitStrategy::NonBlocking,
];

const SECONDS: &str = "IPCPERF_RING_ADVERSARY_SECONDS";
const SEED: &str = "IPCPERF_RING_ADVERSARY_SEED";
/// Environment of the honest side's process: index into [`MODES`], and duration in milliseconds.
const MODE: &str = "IPCPERF_RING_ADVERSARY_MODE";
const MILLISECONDS: &str = "IPCPERF_RING_ADVERSARY_MILLISECONDS";

/// Exit status of an honest side that got nothing but errors. Not 0, with which a process that ran no test ends.
const ERRORS_ONLY: i32 = 42;

/// Extra time after which an honest side that has not ended counts as hung.
const GRACE: Duration = Duration::from_secs(60);

#[test]
fn a_consumer_gets_errors_only_from_a_producer_that_lies() {
    run_against_adversary(Role::Consumer, "a_consumer_gets_errors_only_from_a_producer_that_lies");
}

#[test]
fn a_producer_gets_errors_only_from_a_consumer_that_lies() {
    run_against_adversary(Role::Producer, "a_producer_gets_errors_only_from_a_consumer_that_lies");
}

fn number(variable: &str) -> Option<u64> {
    Some(env::var(variable).ok()?.parse().unwrap_or_else(|_| panic!("{variable}: not a number")))
}

/// Runs `test` again in a process for each waiting mode; in such a process, runs the honest side.
fn run_against_adversary(role: Role, test: &str) {
    if let Some(mode) = number(MODE) {
        let mode = MODES[usize::try_from(mode).unwrap()];
        let time = Duration::from_millis(number(MILLISECONDS).unwrap());
        run_rounds(role, mode, number(SEED).unwrap(), time);
    }
    let time = Duration::from_secs(number(SECONDS).unwrap_or(2)) / 4;
    let seed = number(SEED).unwrap_or_else(from_clock);
    for (index, mode) in MODES.iter().enumerate() {
        let honest = format!("{role:?}, {mode:?}, {SEED}={seed}");
        let output = output_within(start(test, index, seed, time), time + GRACE, &honest);
        let printed = String::from_utf8_lossy(&output.stdout);
        let status = output.status;
        assert!(
            status.code() == Some(ERRORS_ONLY),
            "{honest}: {status}\n{printed}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        println!("{printed}");
    }
}

fn from_clock() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    now.as_secs() << 20 | u64::from(now.subsec_micros())
}

fn start(test: &str, mode: usize, seed: u64, time: Duration) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", &format!("malicious_peer::{test}"), "--nocapture", "--test-threads=1"])
        .env(MODE, mode.to_string())
        .env(SEED, seed.to_string())
        .env(MILLISECONDS, time.as_millis().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Exit status and output of a child that writes less than a pipe holds. A child that hangs is killed.
fn output_within(mut child: Child, limit: Duration, honest: &str) -> Output {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > limit {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{honest}: killed, since it had not ended after {limit:?}");
        }
        sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

/// Runs rounds for `time`, and until both messages and lies have been received; ends the process.
fn run_rounds(role: Role, mode: WaitStrategy, seed: u64, time: Duration) -> ! {
    end_with_parent();
    let start = Instant::now();
    let mut counts = Counts::default();
    let mut rounds = 0;
    while start.elapsed() < time || counts.messages == 0 || counts.corrupt == 0 {
        round(role, mode, seed.wrapping_add(rounds), &mut counts);
        rounds += 1;
    }
    println!("{role:?}, {mode:?}: {rounds} rounds, {counts:?}");
    exit(ERRORS_ONLY)
}
