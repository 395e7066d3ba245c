//! Random cases with verification: no hang, no corruption, nothing left behind.
//!
//! `IPCPERF_RANDOM_CASES` sets their number and `IPCPERF_SEED` the seed; both are printed when a case fails.

use std::collections::BTreeMap;

use ipcperf_engine::channel::Mechanism;
use ipcperf_model::Mode;
use ipcperf_model::mechanism::{Delivery, PayloadTransfer};
use ipcperf_model::message_sizes::MessageSizes;
use ipcperf_model::workload::{self, WorkloadKind};
use rand::rngs::ChaCha8Rng;
use rand::seq::{IndexedRandom, IteratorRandom};
use rand::{RngExt, SeedableRng};

use crate::mechanisms::{available, can_run, in_parallel, placements, values};
use crate::results::{ResultsFile, number};
use crate::sandbox::Sandbox;

/// Default seed.
const SEED: u64 = 20_261_120;
/// Size of the largest message, as a power of two.
const LARGEST: f64 = 24.0;
/// Payload of one run: small enough to be verified in some ten milliseconds.
const TOTAL_BYTES: u64 = 16 << 20;
/// Maximum number of messages in one run: a round trip between CPUs can take a tenth of a millisecond.
const MAX_MESSAGES: u64 = 400;

/// Maximum number of peers of workloads with several, or of pairs.
const MAX_PEERS: u64 = 5;

/// A random case.
pub(crate) struct RandomCase {
    /// Arguments without those for the amount.
    pub(crate) arguments: String,
    /// Arguments for the amount: a total, or a schedule.
    amount: String,
    /// Number of messages, or round trips, over all connections.
    messages: u64,
    /// Whether messages are sent at scheduled times.
    pub(crate) is_paced: bool,
}

impl RandomCase {
    /// All arguments of the case.
    pub(crate) fn whole(&self) -> String {
        format!("{} {}", self.arguments, self.amount)
    }
}

#[test]
fn random_cases_arrive_uncorrupted() {
    let (count, seed) = (from_environment("IPCPERF_RANDOM_CASES", 60), seed());
    println!("{count} random cases; again: IPCPERF_SEED={seed}");
    in_parallel(usize::try_from(count).expect("a count"), |index| {
        let mut random = generator(seed, index);
        let Some(case) = draw(&mut random) else { return };
        verify(&case, &format!("case {index} of seed {seed}: {}", case.whole()));
    });
}

/// Returns a number from the environment, or `default`.
pub(crate) fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect(name))
}

pub(crate) fn seed() -> u64 {
    from_environment("IPCPERF_SEED", SEED)
}

/// Returns the generator of case `index`; each case has its own, so that cases may run in any order.
pub(crate) fn generator(seed: u64, index: usize) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(index as u64);
    random
}

/// Draws a case, if any mechanism is available; sizes are uniform on a logarithmic scale.
pub(crate) fn draw(random: &mut ChaCha8Rng) -> Option<RandomCase> {
    let mechanism = *available().choose(random)?;
    let options = random_options(mechanism, random);
    let hands_over = mechanism.effective_payload(&options) == PayloadTransfer::HandedOver;
    let modes = mechanism.modes.iter().filter(|&&mode| mode != Mode::OneThread || !hands_over);
    let mode = *modes.choose(random).expect("modes");
    let kinds = workload::WORKLOADS.iter().map(|facts| facts.kind);
    let kind = kinds.filter(|kind| can_run(mechanism, mode, *kind)).choose(random);
    let kind = kind.expect("workloads");
    let (workload, mode) = (kind.name(), mode.name());
    let connections = if kind.takes_peers() { random.random_range(1..=MAX_PEERS) } else { 1 };
    let placement = *placements().choose(random).expect("placements");
    let placement = if mode == "1thread" && placement == "split" { "same" } else { placement };
    let bytes = random_bytes(random);
    let most = TOTAL_BYTES / bytes / connections;
    let messages = random.random_range(1..=most.clamp(2, MAX_MESSAGES));
    let (size, total) = random_size(bytes, messages, random);
    let settings =
        options.iter().map(|(name, value)| format!("--set {}.{name}={value}", mechanism.name));
    let is_paced = workload == WorkloadKind::Paced.name()
        || (workload != WorkloadKind::Stream.name() && random.random_ratio(1, 4));
    let amount =
        if is_paced { random_schedule(messages, random) } else { format!("--total {total}") };
    let peers = if kind.takes_peers() { format!("--peers {connections}") } else { String::new() };
    let arguments = format!(
        "-m {} {} --mode {mode} -w {workload} {peers} --placement {placement} {size} {} \
         --repetitions 1",
        mechanism.name,
        settings.collect::<Vec<_>>().join(" "),
        random_message_options(
            (mechanism, &options),
            (mode, is_paced),
            (workload, messages),
            random
        ),
    );
    Some(RandomCase { arguments, amount, messages: messages * connections, is_paced })
}

/// Draws the sizes of `messages` of at most `bytes`: all alike except the last, or mixed. Returns them as an argument, and
/// their sum.
fn random_size(bytes: u64, messages: u64, random: &mut ChaCha8Rng) -> (String, u64) {
    if bytes == 1 || random.random_ratio(3, 4) {
        return (format!("-b {bytes}"), bytes * messages - random.random_range(0..bytes));
    }
    let (small, percent) = (random.random_range(1..bytes), random.random_range(1..100));
    let mixture = format!("{small}:{percent}%,{bytes}:{}%", 100 - percent);
    let sizes: MessageSizes = mixture.parse().expect("a mixture");
    (format!("--messages {mixture}"), sizes.mean_bytes() * messages)
}

/// Draws a schedule of `messages`, from far below to far above what mechanisms carry.
#[allow(clippy::cast_precision_loss, reason = "a few hundred messages")]
fn random_schedule(messages: u64, random: &mut ChaCha8Rng) -> String {
    let rate = *[2_000_u64, 20_000, 1_000_000, 100_000_000].choose(random).expect("rates");
    let arrivals = *["even", "poisson", "burst:7"].choose(random).expect("arrivals");
    // The number of messages is rounded down.
    let duration_s = (messages as f64 + 0.5) / rate as f64;
    format!("--rate {rate} --arrivals {arrivals} --duration {duration_s:.12}")
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

/// Draws other message options: everything is verified, except mechanisms that move no data.
fn random_message_options(
    (mechanism, options): (&Mechanism, &BTreeMap<String, String>),
    (mode, is_paced): (&str, bool),
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
    if mechanism.effective_payload(options) != PayloadTransfer::HandedOver {
        words.push(format!("--buffers {}", buffers.expect("words")));
    }
    let mut first = vec!["after-fork"];
    // Both need a total, which a paced run does not have.
    first.extend((mode == "2proc" && !is_paced).then_some("before-fork"));
    let is_handed_over = mechanism.effective_payload(options) == PayloadTransfer::HandedOver;
    first.extend((!is_handed_over && !is_paced).then_some("timed"));
    words.push(format!("--first-touch {}", first.choose(random).expect("words")));
    if takes_reply(workload) {
        // Replies are at most as large as the requests in total; otherwise a case would exceed any timeout.
        let bytes = random_bytes(random).min((TOTAL_BYTES / messages).max(1)).to_string();
        let reply = ["echo", &bytes].choose(random).copied().expect("words").to_owned();
        words.push(format!("--reply {reply}"));
    }
    words.join(" ")
}

/// Whether the size of the replies of `workload` can be chosen.
fn takes_reply(workload: &str) -> bool {
    [WorkloadKind::RequestReply, WorkloadKind::Server].iter().any(|kind| kind.name() == workload)
}

/// Runs the case, which must succeed or be refused for its size; `what` names it.
fn verify(case: &RandomCase, what: &str) {
    let sandbox = Sandbox::open();
    let finished = sandbox.finish(sandbox.measuring(&case.whole()));
    if finished.status.code() == Some(2) {
        assert!(finished.stderr.contains("carries at most"), "{what}: {}", finished.stderr);
        return;
    }
    assert_eq!(finished.status.code(), Some(0), "{what}: {}", finished.stderr);
    let file = ResultsFile::read(&sandbox.results());
    assert_eq!(file.samples.len(), 2, "{what}");
    for sample in &file.samples {
        let lost = sample["lost_messages"].as_u64().unwrap_or(0);
        let arrived = number(sample, "messages");
        if case.is_paced && sample["saturated"] != false {
            // The sender may have given up. Of a mechanism that delivers nothing, it is not known whether it is saturated.
            assert!(arrived + lost <= case.messages, "{what}: {sample}");
            continue;
        }
        assert_eq!(arrived + lost, case.messages, "{what}: {sample}");
    }
    sandbox.assert_nothing_left();
}
