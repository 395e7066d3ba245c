//! How often the intervals hold the truth, over samples of known distributions. With `--nocapture`
//! the tests print the shares.

mod draws;

use draws::{Draw, exponential, normal, seeded, share};
use ipcperf_stats::{Bootstrap, Interval};
use rand_chacha::ChaCha8Rng;

const SAMPLES: u32 = 2000;

fn lognormal(random: &mut ChaCha8Rng) -> f64 {
    (0.5 * normal(random)).exp()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The share of samples of `n` values whose interval holds `truth`.
fn coverage(
    n: usize,
    truth: f64,
    draw: Draw,
    interval: impl Fn(&[f64]) -> Option<Interval>,
) -> f64 {
    let mut random = seeded();
    share(SAMPLES, || {
        let values: Vec<f64> = (0..n).map(|_| draw(&mut random)).collect();
        let Interval { low, high } = interval(&values).unwrap();
        low <= truth && truth <= high
    })
}

#[test]
fn the_interval_of_the_median_holds_it() {
    let bootstrap = Bootstrap::default();
    for n in [6, 7, 8, 10, 20, 40] {
        for (name, truth, draw) in [
            ("normal", 0.0, normal as Draw),
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
