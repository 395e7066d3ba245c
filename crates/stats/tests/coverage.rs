//! How often the intervals hold the truth, over samples of known distributions. The seed is fixed:
//! this fails for a change of the code, not of the weather.

use ipcperf_stats::{Bootstrap, Interval};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SAMPLES: u32 = 2000;

/// A standard normal value, by Box and Muller (1958).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

fn lognormal(random: &mut ChaCha8Rng) -> f64 {
    (0.5 * normal(random)).exp()
}

fn exponential(random: &mut ChaCha8Rng) -> f64 {
    -(1.0 - random.random::<f64>()).ln()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The share of samples of `n` values whose interval holds `truth`.
fn coverage(
    n: usize,
    truth: f64,
    draw: fn(&mut ChaCha8Rng) -> f64,
    interval: impl Fn(&[f64]) -> Option<Interval>,
) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(20_261_120);
    let held = (0..SAMPLES).filter(|_| {
        let values: Vec<f64> = (0..n).map(|_| draw(&mut random)).collect();
        let Interval { low, high } = interval(&values).unwrap();
        low <= truth && truth <= high
    });
    held.count() as f64 / f64::from(SAMPLES)
}

#[test]
fn the_interval_of_the_median_holds_it() {
    let bootstrap = Bootstrap::default();
    for n in [6, 7, 8, 10, 20, 40] {
        for (name, truth, draw) in [
            ("normal", 0.0, normal as fn(&mut ChaCha8Rng) -> f64),
            ("lognormal", 1.0, lognormal),
            ("exponential", std::f64::consts::LN_2, exponential),
        ] {
            let share = coverage(n, truth, draw, |values| bootstrap.median(values));
            println!("median, {name}, n = {n}: {share:.3}");
            assert!((0.93..0.98).contains(&share), "{name}, n = {n}: {share}");
        }
    }
}

/// Percentile and BCa are known to hold less than they promise at small n; the module says how much.
#[test]
fn intervals_of_the_mean_hold_what_is_documented() {
    let bootstrap = Bootstrap { resamples: 500, ..Bootstrap::default() };
    for (n, at_least) in [(8, 0.86), (10, 0.88), (20, 0.91), (40, 0.925)] {
        let percentile = coverage(n, 0.0, normal, |values| bootstrap.percentile(values, mean));
        let bca = coverage(n, 0.0, normal, |values| bootstrap.bca(values, mean));
        println!("mean, normal, n = {n}: percentile {percentile:.3}, BCa {bca:.3}");
        assert!((at_least..0.97).contains(&percentile), "n = {n}: {percentile}");
        assert!((at_least..0.97).contains(&bca), "n = {n}: {bca}");
    }
}
