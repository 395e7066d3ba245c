//! How often claims are judged wrongly where nothing but chance speaks against them or for them.

use super::{Found, Verdict};
use crate::hypothesis::test_data::{Made, Noise, drawn, study};

const MECHANISMS: [&str; 6] = ["pipe", "unix-stream", "fifo", "tcp", "unix-seqpacket", "shm-ring"];
/// Files judged for each rate.
const FILES: u64 = 80;
/// The level of the claims.
const LEVEL: f64 = 0.05;

/// The most of `files` that may be judged wrongly at a rate of `rate`: by chance one count in a thousand
/// lies beyond.
fn most(rate: f64, files: u64) -> u64 {
    #[allow(clippy::cast_precision_loss, reason = "a few files")]
    let files = files as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few files")]
    let most = (rate * files + 3.1 * (rate * (1.0 - rate) * files).sqrt()) as u64;
    most
}

/// Files of which a claim with `keys` comes to what `is_meant`, of `FILES`.
fn count(keys: &str, make: impl Fn(u64) -> Made, is_meant: fn(&Found) -> bool) -> u64 {
    let study = study(keys);
    (0..FILES).filter(|seed| is_meant(&make(*seed).found_by(&study))).count() as u64
}

fn is_rejected(found: &Found) -> bool {
    found.verdict == Verdict::Rejected
}

fn is_supported(found: &Found) -> bool {
    found.verdict == Verdict::Supported
}

/// A claim with `keys` on as many lines as are named, each with `values`, beside one of ones.
fn rejected(keys: &str, lines: usize, values: &[f64]) -> u64 {
    let make = |seed| {
        let mut all: Vec<(&str, &[f64])> =
            MECHANISMS[..lines].iter().map(|mechanism| (*mechanism, values)).collect();
        let ones = vec![1.0; values.len()];
        all.push(("null", &ones));
        drawn(seed + 1_000 * lines as u64, 12, Noise::independent(0.02), &all)
    };
    count(keys, make, is_rejected)
}

fn named(mechanisms: &[&str]) -> String {
    mechanisms.iter().map(|one| format!("\"{one}\"")).collect::<Vec<_>>().join(", ")
}

/// Lines that are true, but only just: each must not be rejected more often than the level for all of them.
#[test]
fn several_lines_reject_no_more_often_than_one() {
    let mut faults = Vec::new();
    for lines in [1, 3, 6] {
        for (test, keys, values) in barely_true(lines) {
            let wrong = rejected(&format!("test = \"{test}\"\n{keys}"), lines, &values);
            if wrong > most(LEVEL, FILES) {
                faults.push(format!("{test}, {lines} lines: {wrong} of {FILES} rejected"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Claims with the line of which each is just true: a flat line rises; an inner level stands above both ends by no
/// more than is negligible; one overtakes the other by no more than that.
fn barely_true(lines: usize) -> [(&'static str, String, Vec<f64>); 3] {
    let names = named(&MECHANISMS[..lines]);
    let alone = format!("where = {{ mechanism = [{names}] }}\n");
    let beside =
        format!("first = {{ mechanism = [{names}] }}\nsecond = {{ mechanism = \"null\" }}\n");
    [
        ("rises", alone.clone(), vec![1.0; 3]),
        ("rises-then-falls", alone, vec![1.0, 1.01, 1.0]),
        ("crosses-over", beside, vec![1.3, 1.0 / 1.01]),
    ]
}

/// Where blocks depend on one another, chance supports a claim more often than its level says.
#[test]
fn dependent_blocks_support_hardly_more_often_than_independent_ones() {
    let keys = "test = \"faster-than\"\nfirst = { mechanism = \"pipe\" }\n\
                second = { mechanism = \"unix-stream\" }\n";
    for (correlation, rate) in [(0.0, LEVEL), (0.5, 2.0 * LEVEL), (0.8, 2.0 * LEVEL)] {
        let noise = Noise { deviation: 0.02, correlation };
        let lines: [(&str, &[f64]); 2] = [("pipe", &[1.0]), ("unix-stream", &[1.0])];
        let wrong = count(keys, |seed| drawn(seed, 30, noise, &lines), is_supported);
        let most = most(rate, FILES);
        assert!(
            wrong <= most,
            "correlation {correlation}: {wrong} of {FILES} supported, {most} may be"
        );
    }
}

/// The check of independence must not cost claims that are true.
#[test]
fn independent_blocks_are_hardly_ever_taken_for_dependent_ones() {
    let keys = "test = \"faster-than\"\nat = \"levels\"\nfirst = { mechanism = \"pipe\" }\n\
                second = { mechanism = \"unix-stream\" }\n";
    let lines: [(&str, &[f64]); 2] = [("pipe", &[0.8; 6]), ("unix-stream", &[1.0; 6])];
    let make = |seed| drawn(seed, 30, Noise::independent(0.02), &lines);
    let lost = FILES - count(keys, make, is_supported);
    assert!(lost <= most(0.05, FILES), "{lost} of {FILES} not supported");
}
