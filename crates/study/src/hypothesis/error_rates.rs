//! Simulated error rates of verdicts, on data in which any evidence is due to chance.

use super::test_data::{Noise, SyntheticData, simulated, study};
use super::{Findings, Verdict};

const MECHANISMS: [&str; 6] = ["pipe", "unix-stream", "fifo", "tcp", "unix-seqpacket", "shm-ring"];
/// Number of results files judged for each rate.
const FILES: u64 = 80;
/// Significance level of the claims.
const ALPHA: f64 = 0.05;

/// Returns the maximum number of wrong verdicts among `files` that is compatible with an error rate of `rate`. It is
/// exceeded by chance once in a thousand times.
fn max_wrong(rate: f64, files: u64) -> u64 {
    #[allow(clippy::cast_precision_loss, reason = "a few files")]
    let files = files as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few files")]
    let most = (rate * files + 3.1 * (rate * (1.0 - rate) * files).sqrt()) as u64;
    most
}

/// Returns how many of `FILES` results files satisfy `is_counted` when judged by a claim with `keys`.
fn count_verdicts(
    keys: &str,
    make: impl Fn(u64) -> SyntheticData,
    is_counted: fn(&Findings) -> bool,
) -> u64 {
    let study = study(keys);
    (0..FILES).filter(|seed| is_counted(&make(*seed).study_findings(&study))).count() as u64
}

fn is_rejected(found: &Findings) -> bool {
    found.verdict == Verdict::Rejected
}

fn is_supported(found: &Findings) -> bool {
    found.verdict == Verdict::Supported
}

/// Counts rejections of a claim with `keys` on `lines` lines with `values` each, compared with a line of ones.
fn count_rejected(keys: &str, lines: usize, values: &[f64]) -> u64 {
    let make = |seed| {
        let mut all: Vec<(&str, &[f64])> =
            MECHANISMS[..lines].iter().map(|mechanism| (*mechanism, values)).collect();
        let ones = vec![1.0; values.len()];
        all.push(("null", &ones));
        simulated(seed + 1_000 * lines as u64, 12, Noise::independent(0.02), &all)
    };
    count_verdicts(keys, make, is_rejected)
}

fn quoted_list(mechanisms: &[&str]) -> String {
    mechanisms.iter().map(|one| format!("\"{one}\"")).collect::<Vec<_>>().join(", ")
}

/// Several lines that are barely true together must not be rejected more often than the level allows.
#[test]
fn several_lines_reject_no_more_often_than_one() {
    let mut faults = Vec::new();
    for lines in [1, 3, 6] {
        for (test, keys, values) in barely_true(lines) {
            let wrong = count_rejected(&format!("test = \"{test}\"\n{keys}"), lines, &values);
            if wrong > max_wrong(ALPHA, FILES) {
                faults.push(format!("{test}, {lines} lines: {wrong} of {FILES} rejected"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Returns claims, each with a line for which it is barely true: a flat line rises; an inner level exceeds both ends by
/// no more than is negligible; one line overtakes the other by no more than that.
fn barely_true(lines: usize) -> [(&'static str, String, Vec<f64>); 3] {
    let names = quoted_list(&MECHANISMS[..lines]);
    let alone = format!("where = {{ mechanism = [{names}] }}\n");
    let against_null =
        format!("first = {{ mechanism = [{names}] }}\nsecond = {{ mechanism = \"null\" }}\n");
    [
        ("rises", alone.clone(), vec![1.0; 3]),
        ("rises-then-falls", alone, vec![1.0, 1.01, 1.0]),
        ("crosses-over", against_null, vec![1.3, 1.0 / 1.01]),
    ]
}

/// Dependence between blocks makes chance support a claim more often than its level states.
#[test]
fn dependent_blocks_support_hardly_more_often_than_independent_ones() {
    let keys = "test = \"faster-than\"\nfirst = { mechanism = \"pipe\" }\n\
                second = { mechanism = \"unix-stream\" }\n";
    for (correlation, rate) in [(0.0, ALPHA), (0.5, 2.0 * ALPHA), (0.8, 2.0 * ALPHA)] {
        let noise = Noise { deviation: 0.02, correlation };
        let lines: [(&str, &[f64]); 2] = [("pipe", &[1.0]), ("unix-stream", &[1.0])];
        let wrong = count_verdicts(keys, |seed| simulated(seed, 30, noise, &lines), is_supported);
        let most = max_wrong(rate, FILES);
        assert!(
            wrong <= most,
            "correlation {correlation}: {wrong} of {FILES} supported, {most} may be"
        );
    }
}

/// The independence check must not prevent support of true claims.
#[test]
fn independent_blocks_are_hardly_ever_taken_for_dependent_ones() {
    let keys = "test = \"faster-than\"\nat = \"levels\"\nfirst = { mechanism = \"pipe\" }\n\
                second = { mechanism = \"unix-stream\" }\n";
    let lines: [(&str, &[f64]); 2] = [("pipe", &[0.8; 6]), ("unix-stream", &[1.0; 6])];
    let make = |seed| simulated(seed, 30, Noise::independent(0.02), &lines);
    let lost = FILES - count_verdicts(keys, make, is_supported);
    assert!(lost <= max_wrong(0.05, FILES), "{lost} of {FILES} not supported");
}
