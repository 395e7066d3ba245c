//! Coverage of the intervals over samples of known distributions. With `--nocapture` the tests print the shares.
//! `examples/coverage.rs` writes more of them, from more sets, to `docs/coverage.md`.

mod draws;
mod planted;

use draws::{Draw, exponential, normal, seeded, share};
use ipcperf_stats::{Bootstrap, Interval};
use planted::{KNOWN, Noise, Planting, of_values};
use rand::rngs::ChaCha8Rng;

const SAMPLES: u32 = 2000;

fn lognormal(random: &mut ChaCha8Rng) -> f64 {
    (0.5 * normal(random)).exp()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Share of samples of `n` values whose interval contains `truth`.
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

/// Percentile and BCa are known to undercover at small n; the module documents by how much.
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

/// Requirement for figures: at n = 30 a nominal 95 % is at least 93 %, including bimodal values. Over 4000 sets, a true
/// 95 % falls below that once in 10^8, and a true 92 % exceeds it once in 100.
#[test]
fn the_interval_of_the_median_holds_it_whatever_the_distribution() {
    for known in &KNOWN {
        for n in [30, 100] {
            let held = of_values(4000, n, known, known.median, |values| {
                Bootstrap::default().median(values)
            });
            println!("median, {}, n = {n}: {:.3}", known.name, held.share);
            assert!((0.93..0.98).contains(&held.share), "{}, n = {n}: {}", known.name, held.share);
        }
    }
}

/// In a gap between two modes the interpolation between order statistics assumes values where there are none. The
/// interval then contains the median as often as the outer or the inner pair, depending on how far it lies between
/// them: 97 % at n = 6, 87.5 % at n = 7. Over 4000 sets a share of 90 % has a standard deviation of 0.5 %.
#[test]
fn the_interval_of_a_median_between_two_modes_is_one_of_its_two_pairs() {
    let equal = KNOWN.iter().find(|known| known.name == "bimodal 50:50").expect("two equal modes");
    for (n, pair) in [(6, 0.969), (7, 0.875), (8, 0.930), (10, 0.900)] {
        let held =
            of_values(4000, n, equal, equal.median, |values| Bootstrap::default().median(values));
        println!("median, {}, n = {n}: {:.3}", equal.name, held.share);
        assert!((held.share - pair).abs() < 0.016, "n = {n}: {}", held.share);
    }
}

/// With 200 sets a share of 95 % has a standard deviation of 1.5 %: these thresholds detect an interval that is wrong,
/// not one that is slightly off.
fn planting(blocks: usize) -> Planting {
    let bootstrap = Bootstrap { resamples: 100, ..Bootstrap::default() };
    Planting { sets: 200, blocks, noise: Noise::Lognormal5, bootstrap }
}

#[test]
fn intervals_of_places_hold_them() {
    for blocks in [10, 30] {
        for (name, held) in [
            ("crossing, steep", planting(blocks).crossing(13.3, 0.2)),
            ("crossing, shallow", planting(blocks).crossing(13.3, 0.04)),
            ("peak", planting(blocks).peak(14.3, 0.02)),
            ("hinge", planting(blocks).hinge(14.3)),
        ] {
            println!("{name}, {blocks} blocks: {:.3}, width {:.2}", held.share, held.width);
            assert!(held.share >= 0.89, "{name}, {blocks} blocks: {}", held.share);
            assert!(held.width > 0.05 && held.width < 8.0, "{name}: {}", held.width);
        }
    }
}

#[test]
fn intervals_of_slopes_and_heights_hold_them() {
    for blocks in [10, 30] {
        let (median, mean) = planting(blocks).slope();
        let plateau = planting(blocks).plateau();
        println!("{blocks} blocks: {:.3}, {:.3}, {:.3}", median.share, mean.share, plateau.share);
        assert!(median.share >= 0.91 && plateau.share >= 0.91, "{blocks} blocks");
        // BCa undercovers with few blocks, as documented.
        assert!(mean.share >= if blocks == 10 { 0.84 } else { 0.89 }, "{blocks}: {}", mean.share);
    }
}

#[test]
fn straight_lines_seldom_have_a_hinge_and_hinges_mostly() {
    for blocks in [10, 30] {
        let (wrong, right) = (planting(blocks).false_hinges(), planting(blocks).hinges_found(14.3));
        println!("{blocks} blocks: {wrong:.3} of straight lines, {right:.3} of hinges");
        assert!(wrong <= 0.10, "{blocks} blocks: {wrong}");
        assert!(right >= 0.9, "{blocks} blocks: {right}");
    }
}
