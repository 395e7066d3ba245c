//! Random cases, verified: no hang, no corruption, nothing left.
//!
//! `IPCPERF_RANDOM_CASES` says how many, `IPCPERF_SEED` which; both are printed when one fails.

use std::collections::BTreeMap;

use ipcperf_engine::channel::Mechanism;
use ipcperf_model::Mode;
use ipcperf_model::mechanism::{Delivery, PayloadFate};
use ipcperf_model::workload;
use rand::seq::{IndexedRandom, IteratorRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::laboratory::Laboratory;
use crate::mechanisms::{available, in_parallel, placements, values};
use crate::results::{ResultsFile, number};

/// Which cases are drawn where no seed is given.
const SEED: u64 = 20_261_120;
/// Bytes of the largest message, as a power of two.
const LARGEST: f64 = 24.0;
/// Payload of one run: little enough to be verified in some ten milliseconds.
const TOTAL_BYTES: u64 = 16 << 20;
/// Messages of one run at most: round trips between CPUs can take a tenth of a millisecond.
const MOST_MESSAGES: u64 = 400;

/// A case drawn at random.
pub(crate) struct RandomCase {
    pub(crate) arguments: String,
    messages: u64,
}

#[test]
fn random_cases_arrive_uncorrupted() {
    let (count, seed) = (from_environment("IPCPERF_RANDOM_CASES", 60), seed());
    println!("{count} random cases; again: IPCPERF_SEED={seed}");
    in_parallel(usize::try_from(count).expect("a count"), |index| {
        let mut random = generator(seed, index);
        let Some(case) = draw(&mut random) else { return };
        verify(&case, &format!("case {index} of seed {seed}: {}", case.arguments));
    });
}

/// A number from the environment, or `default`.
pub(crate) fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect(name))
}

pub(crate) fn seed() -> u64 {
    from_environment("IPCPERF_SEED", SEED)
}

/// The generator of case `index`: its own, so that cases may run in any order.
pub(crate) fn generator(seed: u64, index: usize) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(index as u64);
    random
}

/// Draws a case, where any mechanism is available; sizes are even on a logarithmic scale.
pub(crate) fn draw(random: &mut ChaCha8Rng) -> Option<RandomCase> {
    let mechanism = *available().choose(random)?;
    let options = random_options(mechanism, random);
    let hands_over = mechanism.fate(&options) == PayloadFate::HandedOver;
    let modes = mechanism.modes.iter().filter(|&&mode| mode != Mode::OneThread || !hands_over);
    let mode = modes.choose(random).expect("modes").name();
    let workload = workload::WORKLOADS.choose(random).expect("workloads").name;
    let placement = *placements().choose(random).expect("placements");
    let placement = if mode == "1thread" && placement == "split" { "same" } else { placement };
    let bytes = random_bytes(random);
    let messages = random.random_range(1..=(TOTAL_BYTES / bytes).clamp(2, MOST_MESSAGES));
    let total = bytes * messages - random.random_range(0..bytes);
    let settings =
        options.iter().map(|(name, value)| format!("--set {}.{name}={value}", mechanism.name));
    let arguments = format!(
        "-m {} {} --mode {mode} -w {workload} --placement {placement} -b {bytes} --total {total} \
         {} --repetitions 1",
        mechanism.name,
        settings.collect::<Vec<_>>().join(" "),
        random_handling((mechanism, &options), mode, (workload, messages), random),
    );
    Some(RandomCase { arguments, messages })
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 2^24")]
fn random_bytes(random: &mut ChaCha8Rng) -> u64 {
    random.random_range(0.0..=LARGEST).exp2().round() as u64
}

fn random_options(mechanism: &Mechanism, random: &mut ChaCha8Rng) -> BTreeMap<String, String> {
    let chosen = mechanism.options.iter().map(|option| {
        let values = values(option);
        let value = values.choose(random).expect("values");
        (option.name.to_owned(), value.to_string())
    });
    chosen.collect()
}

/// What else is done with messages: all are verified, but what moves nothing.
fn random_handling(
    (mechanism, options): (&Mechanism, &BTreeMap<String, String>),
    mode: &str,
    (workload, messages): (&str, u64),
    random: &mut ChaCha8Rng,
) -> String {
    let touched = ["none", "write", "read", "both"].map(|who| format!("--touch {who}"));
    let verify = ["--verify".to_owned()];
    let checks = if mechanism.delivery == Delivery::Nothing { &touched[..] } else { &verify[..] };
    let mut words = vec![checks.choose(random).expect("words").clone()];
    let buffers = ["hot", "rotate", "cold"].choose_weighted(random, |how| match *how {
        "cold" => 1,
        _ => 5,
    });
    if mechanism.fate(options) != PayloadFate::HandedOver {
        words.push(format!("--buffers {}", buffers.expect("words")));
    }
    let mut first = vec!["after-fork"];
    first.extend((mode == "2proc").then_some("before-fork"));
    first.extend((mechanism.fate(options) != PayloadFate::HandedOver).then_some("timed"));
    words.push(format!("--first-touch {}", first.choose(random).expect("words")));
    if workload == "request-reply" {
        // As many bytes come back as go there, at most: or a case outlives any deadline.
        let bytes = random_bytes(random).min((TOTAL_BYTES / messages).max(1)).to_string();
        let reply = ["echo", &bytes].choose(random).copied().expect("words").to_owned();
        words.push(format!("--reply {reply}"));
    }
    words.join(" ")
}

/// Runs the case, which must go well or be refused for its size; `what` names it.
fn verify(case: &RandomCase, what: &str) {
    let laboratory = Laboratory::open();
    let finished = laboratory.finish(laboratory.measuring(&case.arguments));
    if finished.status.code() == Some(2) {
        assert!(finished.stderr.contains("carries at most"), "{what}: {}", finished.stderr);
        return;
    }
    assert_eq!(finished.status.code(), Some(0), "{what}: {}", finished.stderr);
    let file = ResultsFile::read(&laboratory.results());
    assert_eq!(file.samples.len(), 2, "{what}");
    for sample in &file.samples {
        let lost = sample["lost_messages"].as_u64().unwrap_or(0);
        assert_eq!(number(sample, "messages") + lost, case.messages, "{what}: {sample}");
    }
    laboratory.assert_nothing_left();
}
