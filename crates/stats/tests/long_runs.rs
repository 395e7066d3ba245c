//! Coverage of the interval of a median on real series: the figures of long runs, recorded on a machine with other
//! activity. The median of the whole series stands for the truth.
//!
//! Simulated samples are independent; repetitions on a real machine are correlated. So the interval is tested on
//! repetitions drawn at random, on stretches of consecutive ones, and on the procedure of `--until-ci`: examined
//! repeatedly until it is narrow enough.

use std::fs;

use ipcperf_stats::{Bootstrap, median};
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde::Deserialize;

/// Required share of 95 % intervals that contain the truth.
const LEAST: f64 = 0.93;
const TRIALS: u32 = 2_000;

#[derive(Deserialize)]
struct Recorded {
    series: Vec<Series>,
}

#[derive(Deserialize)]
struct Series {
    case: String,
    figures: Vec<f64>,
}

impl Series {
    /// Share of trials in which the interval of the values chosen by `take` contains the median of all.
    fn coverage(&self, take: impl Fn(&[f64], &mut ChaCha8Rng) -> Vec<f64>) -> f64 {
        let truth = median(&self.figures).unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let holds = |random: &mut ChaCha8Rng| {
            let interval = Bootstrap::default().median(&take(&self.figures, random)).unwrap();
            interval.low <= truth && truth <= interval.high
        };
        f64::from((0..TRIALS).map(|_| u32::from(holds(&mut random))).sum::<u32>())
            / f64::from(TRIALS)
    }
}

fn recorded() -> Vec<Series> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded/long_runs.json");
    let text = fs::read_to_string(path).unwrap();
    serde_json::from_str::<Recorded>(&text).unwrap().series
}

fn drawn(figures: &[f64], n: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
    figures.sample(random, n).copied().collect()
}

fn stretch(figures: &[f64], n: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
    let start = random.random_range(0..=figures.len() - n);
    figures[start..start + n].to_vec()
}

/// Takes repetitions until half the interval is at most 2 % of the median at two consecutive checks. Checks follow
/// after 10 repetitions and then after each increase by half, up to 200.
fn until_known(figures: &[f64], random: &mut ChaCha8Rng) -> Vec<f64> {
    let all = drawn(figures, 200.min(figures.len()), random);
    let (mut n, mut in_a_row) = (10, 0);
    while n < all.len() {
        in_a_row = if is_known(&all[..n]) { in_a_row + 1 } else { 0 };
        if in_a_row == 2 {
            break;
        }
        n = (n + n / 2 + 1).min(all.len());
    }
    all[..n].to_vec()
}

fn is_known(figures: &[f64]) -> bool {
    let (middle, interval) =
        (median(figures).unwrap(), Bootstrap::default().median(figures).unwrap());
    (interval.high - interval.low) / 2.0 <= 0.02 * middle
}

#[test]
fn on_repetitions_drawn_at_random_the_interval_holds_what_it_says() {
    for series in recorded() {
        for n in [7, 10, 20, 40] {
            let share = series.coverage(|figures, random| drawn(figures, n, random));
            println!("drawn, {}, n = {n}: {share:.3}", series.case);
            assert!(share >= LEAST, "{}, n = {n}: {share}", series.case);
        }
    }
}

#[test]
fn looked_at_again_and_again_it_still_does() {
    for series in recorded() {
        let share = series.coverage(until_known);
        println!("until known, {}: {share:.3}", series.case);
        assert!(share >= LEAST, "{}: {share}", series.case);
    }
}

/// Consecutive repetitions share the state of the machine. That is not a fault of the interval, but it matters to the
/// reader: the shares are in docs/method.md.
#[test]
fn on_consecutive_repetitions_it_holds_nearly_as_often() {
    for series in recorded() {
        let share = series.coverage(|figures, random| stretch(figures, 20, random));
        println!("stretch, {}, n = 20: {share:.3}", series.case);
        assert!(share >= 0.5, "{}: {share}", series.case);
    }
}
