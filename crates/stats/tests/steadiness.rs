//! Accuracy of the verdicts on series with a known truth. With `--nocapture` the tests print the shares.

mod draws;

use draws::{exponential, normal, seeded, share};
use ipcperf_stats::{Steadiness, steadiness, warm_up};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;

const LENGTHS: [u32; 5] = [12, 20, 50, 200, 1000];

/// Number of samples: fewer of long series, which take longer and vary less.
fn samples(n: u32) -> u32 {
    if n > 500 { 100 } else { 400 }
}

/// Draws a series around 100 with noise of `cv`, times `shape` at each position from 0 to 1.
fn series(random: &mut ChaCha8Rng, n: u32, cv: f64, shape: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..n)
        .map(|i| 100.0 * shape(f64::from(i) / f64::from(n)) * (1.0 + cv * normal(random)))
        .collect()
}

fn assert_share(share: f64, at_least: f64, what: &str) {
    println!("{what}: {share:.3}");
    assert!(share >= at_least, "{what}: {share}");
}

#[test]
fn steady_noise_has_no_warm_up() {
    let mut random = seeded();
    for n in LENGTHS {
        for cv in [0.002, 0.05, 0.2] {
            let right =
                share(samples(n), || warm_up(&series(&mut random, n, cv, |_| 1.0)) == Some(0));
            assert_share(right, 0.95, &format!("normal, CV {cv}, n = {n}"));
        }
        let right = share(samples(n), || {
            let series: Vec<f64> = (0..n).map(|_| 5.0 + exponential(&mut random)).collect();
            warm_up(&series) == Some(0)
        });
        assert_share(right, 0.95, &format!("exponential, n = {n}"));
    }
}

/// As caused by a slowly changing clock frequency.
#[test]
fn correlated_noise_has_no_warm_up() {
    let mut random = seeded();
    for n in [50, 200, 1000] {
        let right = share(samples(n), || {
            let mut state = 0.0;
            let series: Vec<f64> = (0..n)
                .map(|_| {
                    state = 0.7 * state + normal(&mut random);
                    100.0 + 2.0 * state
                })
                .collect();
            warm_up(&series) == Some(0)
        });
        assert_share(right, 0.8, &format!("correlated, n = {n}"));
    }
}

#[test]
fn an_interrupted_slice_is_no_warm_up() {
    let mut random = seeded();
    for n in LENGTHS {
        let right = share(samples(n), || {
            let mut series = series(&mut random, n, 0.03, |_| 1.0);
            let at = random.random_range(1..series.len());
            series[at] *= 3.0;
            warm_up(&series) == Some(0)
        });
        assert_share(right, 0.95, &format!("a spike, n = {n}"));
    }
}

#[test]
fn a_step_down_is_cut_where_it_is() {
    let mut random = seeded();
    for n in [20_u32, 50, 200, 1000] {
        for (from, warm) in [(1.5, 0.2), (0.6, 0.2), (1.3, 0.35)] {
            let right = share(samples(n), || {
                let shape = |at: f64| if at < warm { from } else { 1.0 };
                let cut = warm_up(&series(&mut random, n, 0.03, shape));
                let truth = f64::from(n) * warm;
                cut.is_some_and(|cut| (cut as f64 - truth).abs() <= 1.0 + 0.02 * f64::from(n))
            });
            // At n = 20 the spread is estimated from only ten measurements.
            let at_least = if n == 20 { 0.9 } else { 0.93 };
            assert_share(right, at_least, &format!("x{from} for {warm}, n = {n}"));
        }
    }
}

#[test]
fn a_decay_is_cut_where_little_of_it_is_left() {
    let mut random = seeded();
    for n in [50_u32, 200, 1000] {
        let right = share(samples(n), || {
            let shape = |at: f64| 1.0 + 0.8 * (-at / 0.05).exp();
            let cut = warm_up(&series(&mut random, n, 0.03, shape));
            // From the point where a fifth is left to where a thousandth is left.
            cut.is_some_and(|cut| (0.06..0.35).contains(&(cut as f64 / f64::from(n))))
        });
        assert_share(right, 0.95, &format!("decay, n = {n}"));
    }
}

#[test]
fn a_slow_first_slice_is_left_out() {
    let mut random = seeded();
    let right = share(400, || {
        let mut series = series(&mut random, 30, 0.03, |_| 1.0);
        series[0] *= 1.4;
        warm_up(&series) == Some(1)
    });
    assert_share(right, 0.95, "first slice");
}

#[test]
fn a_drift_to_the_end_never_settles() {
    let mut random = seeded();
    for n in LENGTHS {
        for change in [0.5, -0.3] {
            let drifting = |at: f64| 1.0 + change * at;
            let right =
                share(samples(n), || warm_up(&series(&mut random, n, 0.03, drifting)).is_none());
            let at_least = if n == 12 { 0.8 } else { 0.95 };
            assert_share(right, at_least, &format!("drift of {change}, n = {n}"));
        }
    }
    let late = share(400, || {
        warm_up(&series(&mut random, 50, 0.03, |at| if at < 0.7 { 1.0 } else { 1.4 })).is_none()
    });
    assert_share(late, 0.9, "another level from 0.7 on");
}

#[test]
fn noise_is_steady_and_drift_is_not() {
    let mut random = seeded();
    for n in LENGTHS {
        let steady = |series: &[f64]| steadiness(series) == Some(Steadiness::Steady);
        for cv in [0.01, 0.2] {
            let right = share(samples(n), || steady(&series(&mut random, n, cv, |_| 1.0)));
            assert_share(right, 0.97, &format!("steady, CV {cv}, n = {n}"));
        }
        let little =
            share(samples(n), || steady(&series(&mut random, n, 0.001, |at| 1.0 + 0.01 * at)));
        assert_share(little, 1.0, &format!("drift of 1 %, n = {n}"));
        let drifts = share(samples(n), || {
            let series = series(&mut random, n, 0.03, |at| 1.0 - 0.2 * at);
            match steadiness(&series) {
                Some(Steadiness::Drifting { change, p_value }) => {
                    (-0.35..-0.1).contains(&change) && p_value < 0.01
                }
                _ => false,
            }
        });
        assert_share(drifts, 0.95, &format!("drift of -20 %, n = {n}"));
    }
}

#[test]
fn little_or_bad_input_has_no_verdict() {
    for bad in
        [&[][..], &[1.0; 7], &[0.0; 20], &[1.0, f64::NAN, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]]
    {
        assert_eq!(warm_up(bad), None);
        assert_eq!(steadiness(bad), None);
    }
    assert_eq!(warm_up(&[4.0; 10]), Some(0));
    assert_eq!(steadiness(&[4.0; 10]), Some(Steadiness::Steady));
}

/// On a quiet machine slices differ by 0.1 %: a warm-up of three stands out, and is found.
#[test]
fn a_warm_up_before_a_very_quiet_stretch_is_cut_where_it_ends() {
    let quiet = (0..21).map(|k| 2_000.0 + f64::from(k * 7 % 10));
    let series: Vec<f64> = [9_000.0, 6_000.0, 4_000.0].into_iter().chain(quiet).collect();
    assert_eq!(warm_up(&series), Some(3));
}
