//! Accuracy of `modes` over samples of known distributions. With `--nocapture` the tests print the shares.

mod draws;

use draws::{Draw, exponential, normal, seeded, share};
use ipcperf_stats::{Mode, modes};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;

type Kept = fn(&[f64]) -> Vec<(f64, u64)>;

/// Draws a normal value with mean 1, cut off far below.
fn around_one(random: &mut ChaCha8Rng, cv: f64) -> f64 {
    (1.0 + cv * normal(random)).max(0.05)
}

/// Bins values like the stored histograms of round trips: bins of 1 %, given by their lower end.
fn binned(values: &[f64]) -> Vec<(f64, u64)> {
    in_bins(values, 0.01)
}

fn coarsely_binned(values: &[f64]) -> Vec<(f64, u64)> {
    in_bins(values, 0.025)
}

#[allow(clippy::cast_possible_truncation, reason = "the number of a bin")]
fn in_bins(values: &[f64], width: f64) -> Vec<(f64, u64)> {
    let mut bins = std::collections::BTreeMap::new();
    for value in values {
        *bins.entry((value.ln() / width).floor() as i64).or_insert(0) += 1;
    }
    bins.into_iter().map(|(bin, count)| ((bin as f64 * width).exp(), count)).collect()
}

fn singly(values: &[f64]) -> Vec<(f64, u64)> {
    values.iter().map(|&value| (value, 1)).collect()
}

const ONE_MODE: [(&str, Draw); 13] = [
    ("normal, CV 1 %", |random| around_one(random, 0.01)),
    ("normal, CV 20 %", |random| around_one(random, 0.2)),
    ("lognormal, 0.3", |random| (0.3 * normal(random)).exp()),
    ("lognormal, 0.8", |random| (0.8 * normal(random)).exp()),
    ("exponential and offset", |random| 0.3 + exponential(random)),
    ("exponential and large offset", |random| 3.0 + exponential(random)),
    ("Pareto", |random| exponential(random).exp()),
    ("3 % far outliers", |random| seldom(random, 0.03, 10.0) * around_one(random, 0.05)),
    ("2 % a little off", |random| seldom(random, 0.02, 1.1) * around_one(random, 0.01)),
    ("three digits", |random| (around_one(random, 0.2) * 100.0).round() / 100.0),
    ("three digits, narrow", |random| (around_one(random, 0.03) * 100.0).round() / 100.0),
    ("whole ns, long tail", |random| {
        let straggles = seldom(random, 0.02, 26.0) - 1.0;
        (190.0 + (20.0 + 20.0 * straggles) * exponential(random)).round()
    }),
    ("steps of 40 ns", |random| 40.0 * (3.0 + 1.5 * normal(random).abs()).round()),
];

/// Returns `factor` with the probability `share`, otherwise 1.
fn seldom(random: &mut ChaCha8Rng, share: f64, factor: f64) -> f64 {
    if random.random::<f64>() < share { factor } else { 1.0 }
}

/// Share of samples of `n` values in which one mode is found.
fn share_of_one(n: usize, samples: u32, draw: Draw, kept: Kept) -> f64 {
    let mut random = seeded();
    share(samples, || {
        let values: Vec<f64> = (0..n).map(|_| draw(&mut random)).collect();
        modes(&kept(&values)).len() == 1
    })
}

#[test]
fn one_mode_is_called_one() {
    for (name, draw) in ONE_MODE {
        for n in [7, 10, 20, 40, 100, 400] {
            let share = share_of_one(n, 400, draw, singly);
            println!("{name}, n = {n}: {share:.3}");
            assert!(share >= 0.95, "{name}, n = {n}: {share}");
        }
    }
}

#[test]
fn one_mode_of_100_000_round_trips_is_called_one() {
    for (name, draw) in ONE_MODE {
        let share = share_of_one(100_000, 20, draw, binned);
        assert!(share >= 0.95, "{name}: {share}");
    }
}

#[test]
fn the_bins_of_a_histogram_are_no_modes() {
    for draw in [tailed as Draw, |random| 1.0 + 0.1 * exponential(random)] {
        assert_eq!(share_of_one(100_000, 5, draw, coarsely_binned), 1.0);
    }
}

/// One value in ten is slower, by any factor up to a hundred. Whether those few form a group is debatable, but usually
/// they should not count as one.
#[test]
fn strewn_stragglers_are_seldom_called_a_mode() {
    let strewn: Draw = |random| {
        let factor = (4.6 * random.random::<f64>()).exp();
        seldom(random, 0.1, factor) * tight(random)
    };
    for n in [7, 10, 20, 40, 100, 400] {
        let share = share_of_one(n, 400, strewn, singly);
        println!("strewn, n = {n}: {share:.3}");
        assert!(share >= 0.75, "n = {n}: {share}");
    }
}

/// Draws `n` values, of which `slow` are `factor` times as large.
fn groups(random: &mut ChaCha8Rng, n: usize, slow: usize, factor: f64, noise: Draw) -> Vec<f64> {
    (0..n).map(|i| if i < slow { factor * noise(random) } else { noise(random) }).collect()
}

/// Whether two modes are found with these shares and a gap of about this factor.
fn are_found(modes: &[Mode], slow: f64, factor: f64) -> bool {
    let [low, high] = modes else { return false };
    let gap = high.median / low.median / factor;
    (high.share - slow).abs() < 0.03
        && (low.share + high.share - 1.0).abs() < 1e-9
        && (0.85..1.15).contains(&gap)
        && low.high < high.low
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of values")]
/// Share of samples in which the two simulated groups are found.
fn share_found(n: usize, slow: f64, factor: f64, noise: Draw, (samples, kept): (u32, Kept)) -> f64 {
    let mut random = seeded();
    let count = (n as f64 * slow).round() as usize;
    share(samples, || {
        let values = groups(&mut random, n, count, factor, noise);
        are_found(&modes(&kept(&values)), count as f64 / n as f64, factor)
    })
}

fn tight(random: &mut ChaCha8Rng) -> f64 {
    around_one(random, 0.05)
}

/// Draws from a long-tailed distribution: one value in 40 is over twice the median.
fn tailed(random: &mut ChaCha8Rng) -> f64 {
    0.8 + 0.2 * normal(random).exp()
}

#[test]
fn two_modes_are_found() {
    for (slow, from) in [(0.5, 20), (0.2, 20), (0.8, 20), (0.1, 40), (0.9, 40)] {
        for n in [20, 40, 100, 400].into_iter().filter(|n| *n >= from) {
            for factor in [1.5, 5.8 / 1.3, 28.0 / 0.8] {
                let share = share_found(n, slow, factor, tight, (400, singly));
                println!("{slow} at x{factor:.1}, n = {n}: {share:.3}");
                assert!(share >= 0.95, "{slow} at x{factor}, n = {n}: {share}");
            }
        }
    }
}

#[test]
fn two_modes_of_100_000_round_trips_are_found() {
    for slow in [0.5, 0.2, 0.1, 0.9, 0.06] {
        for (factor, noise) in [(1.5, tight as Draw), (4.5, tailed), (35.0, tailed)] {
            let share = share_found(100_000, slow, factor, noise, (5, binned));
            assert!(share == 1.0, "{slow} at x{factor}: {share}");
        }
    }
}

#[test]
fn seven_values_do_where_the_gap_is_overwhelming() {
    for n in [7, 10] {
        for factor in [2.2, 4.5, 35.0] {
            let share = share_found(n, 0.5, factor, tight, (400, singly));
            println!("half at x{factor}, n = {n}: {share:.3}");
            assert!(share >= 0.95, "half at x{factor}, n = {n}: {share}");
        }
    }
}

#[test]
fn three_modes_are_found_in_their_order() {
    let mut random = seeded();
    for (n, kept) in [(60, singly as Kept), (90_000, binned)] {
        let mut values = groups(&mut random, n, n / 2, 4.0, tight);
        values.extend(groups(&mut random, n / 3, n / 3, 16.0, tight));
        let found = modes(&kept(&values));
        assert_eq!(found.len(), 3, "{found:?}");
        for (mode, (median, share)) in found.iter().zip([(1.0, 0.375), (4.0, 0.375), (16.0, 0.25)])
        {
            assert!((mode.median / median - 1.0).abs() < 0.05, "{mode:?}");
            assert!((mode.share - share).abs() < 0.02, "{mode:?}");
        }
    }
}

#[test]
fn a_share_below_5_percent_is_no_mode() {
    for slow in [0.03, 0.045] {
        let share = share_found(100_000, slow, 35.0, tight, (3, binned));
        assert!(share == 0.0, "{slow}: {share}");
    }
}

#[test]
fn a_gap_that_is_not_worth_naming_is_no_mode() {
    assert_eq!(share_found(100_000, 0.5, 1.2, |random| around_one(random, 0.01), (3, binned)), 0.0);
}

#[test]
fn counts_and_order_do_not_matter() {
    let singly = [(1.0, 1), (30.0, 1), (1.02, 1), (1.0, 1), (31.0, 1), (30.0, 1), (1.0, 1)];
    let counted = [(31.0, 1), (1.02, 1), (30.0, 2), (99.0, 0), (1.0, 3)];
    let found = modes(&counted);
    assert_eq!(found, modes(&singly));
    assert_eq!(found.len(), 2);
    let low = Mode { share: 4.0 / 7.0, median: 1.0, low: 1.0, high: 1.02 };
    assert_eq!(found[0], low);
    assert_eq!((found[1].median, found[1].low, found[1].high), (30.0, 30.0, 31.0));
}

#[test]
fn little_or_bad_input_is_borne() {
    assert_eq!(modes(&[]), []);
    assert_eq!(modes(&[(3.0, 0)]), []);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(modes(&[(1.0, 5), (bad, 1)]), []);
    }
    let only = Mode { share: 1.0, median: 2.0, low: 2.0, high: 2.0 };
    assert_eq!(modes(&[(2.0, 1)]), [only]);
    assert_eq!(modes(&[(2.0, u64::MAX), (2.0, 7)]), [only]);
    assert_eq!(modes(&[(f64::MIN_POSITIVE, 10), (1.0, 10), (f64::MAX, 10)]).len(), 3);
    let third = f64::MAX / 3.0;
    assert_eq!(modes(&[(third, 10), (2.0 * third, 10), (f64::MAX, 10)]).len(), 1);
}
