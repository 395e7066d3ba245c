//! How often `modes` is right, over samples of known distributions. The seed is fixed: this fails
//! for a change of the code, not of the weather.

use ipcperf_stats::{Mode, modes};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Draw = fn(&mut ChaCha8Rng) -> f64;

/// A standard normal value, by Box and Muller (1958).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

fn exponential(random: &mut ChaCha8Rng) -> f64 {
    -(1.0 - random.random::<f64>()).ln()
}

/// Normal with mean 1, cut off far below.
fn around_one(random: &mut ChaCha8Rng, cv: f64) -> f64 {
    (1.0 + cv * normal(random)).max(0.05)
}

/// A histogram as round trips are kept in: bins of 1 %, by their lower end.
fn binned(values: &[f64]) -> Vec<(f64, u64)> {
    let mut bins = std::collections::BTreeMap::new();
    for value in values {
        *bins.entry((value.ln() / 0.01).floor() as i64).or_insert(0) += 1;
    }
    bins.into_iter().map(|(bin, count)| ((bin as f64 * 0.01).exp(), count)).collect()
}

fn singly(values: &[f64]) -> Vec<(f64, u64)> {
    values.iter().map(|&value| (value, 1)).collect()
}

const ONE_MODE: [(&str, Draw); 14] = [
    ("normal, CV 1 %", |random| around_one(random, 0.01)),
    ("normal, CV 20 %", |random| around_one(random, 0.2)),
    ("lognormal, 0.3", |random| (0.3 * normal(random)).exp()),
    ("lognormal, 0.8", |random| (0.8 * normal(random)).exp()),
    ("exponential and offset", |random| 0.3 + exponential(random)),
    ("exponential and large offset", |random| 3.0 + exponential(random)),
    ("3 % of x10", |random| {
        let factor = if random.random::<f64>() < 0.03 { 10.0 } else { 1.0 };
        factor * around_one(random, 0.05)
    }),
    ("2 % of x1.1", |random| {
        let factor = if random.random::<f64>() < 0.02 { 1.1 } else { 1.0 };
        factor * around_one(random, 0.01)
    }),
    ("three digits", |random| (around_one(random, 0.2) * 100.0).round() / 100.0),
    ("three digits, narrow", |random| (around_one(random, 0.03) * 100.0).round() / 100.0),
    ("whole ns, long tail", |random| {
        (190.0
            + 20.0 * exponential(random)
            + f64::from(random.random::<f64>() < 0.02) * 500.0 * exponential(random))
        .round()
    }),
    ("multiples of 40 ns", |random| 40.0 * (3.0 + 1.5 * normal(random).abs()).round()),
    ("tail of 10 % over two decades", |random| {
        let tail =
            if random.random::<f64>() < 0.1 { (4.6 * random.random::<f64>()).exp() } else { 1.0 };
        tail * around_one(random, 0.05)
    }),
    ("Pareto", |random| exponential(random).exp()),
];

/// The share of samples of `n` values in which one mode is found.
fn share_of_one(n: usize, samples: u32, draw: Draw, kept: fn(&[f64]) -> Vec<(f64, u64)>) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(20_261_120);
    let one = (0..samples).filter(|_| {
        let values: Vec<f64> = (0..n).map(|_| draw(&mut random)).collect();
        modes(&kept(&values)).len() == 1
    });
    one.count() as f64 / f64::from(samples)
}

#[test]
fn one_mode_is_called_one() {
    for (name, draw) in ONE_MODE {
        let shares: Vec<String> = [7, 10, 20, 40, 100, 400, 2000]
            .iter()
            .map(|&n| format!("{:.3}", share_of_one(n, 500, draw, singly)))
            .collect();
        println!("{name:32} {} | {:.2}", shares.join(" "), share_of_one(100_000, 20, draw, binned));
    }
}

/// Two groups of values around 1 and `factor`, of `slow` in the second.
fn two_groups(
    random: &mut ChaCha8Rng,
    n: usize,
    slow: usize,
    factor: f64,
    noise: Draw,
) -> Vec<f64> {
    (0..n).map(|i| if i < slow { factor * noise(random) } else { noise(random) }).collect()
}

fn found(modes: &[Mode], slow: f64) -> bool {
    matches!(modes, [_, high] if (high.share - slow).abs() < 0.04)
}

#[test]
fn two_modes_are_found() {
    let tight: Draw = |random| around_one(random, 0.05);
    let tailed: Draw = |random| 0.9 + 0.1 * (0.8 * normal(random)).exp();
    let very: Draw = |random| (0.25 * normal(random)).exp();
    let mut random = ChaCha8Rng::seed_from_u64(20_261_120);
    for (name, noise) in [("tight", tight), ("tailed", tailed), ("wide.25", very)] {
        for factor in [1.5, 2.2, 4.5, 35.0] {
            for share in [0.5, 0.2, 0.1, 0.9] {
                print!("{name:7} x{factor:4} {share:.2}: ");
                for n in [7, 10, 20, 40, 100, 400, 100_000] {
                    let slow = (n as f64 * share).round() as usize;
                    let samples = if n > 1000 { 5 } else { 200 };
                    let hits = (0..samples)
                        .filter(|_| {
                            let v = two_groups(&mut random, n, slow, factor, noise);
                            found(
                                &modes(&if n > 1000 { binned(&v) } else { singly(&v) }),
                                slow as f64 / n as f64,
                            )
                        })
                        .count();
                    print!(" {:.3}", hits as f64 / samples as f64);
                }
                println!();
            }
        }
    }
}
