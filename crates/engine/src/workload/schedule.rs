//! Times at which the messages of a paced run are due.
//!
//! Both peers draw the same schedule from the same seed, so a message need not carry the time at which it was due.

use ipcperf_model::pacing::{Arrivals, Pacing};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

/// Number of points in time at which the backlog is determined, at equal numbers of messages; the last one is the end of
/// the schedule.
pub(super) const CHECKPOINTS: usize = 4;

/// Draws the times of one run after another, ns after the start of the schedule.
#[derive(Debug)]
pub(super) struct Schedule {
    arrivals: Arrivals,
    /// Mean time between messages, ns.
    gap_ns: f64,
    random: ChaCha8Rng,
    /// Number of the next message.
    next: u64,
    /// Time of the last message of random arrivals, or of message 0 of regular ones, ns.
    base_ns: f64,
}

impl Schedule {
    /// Creates the schedule of `pacing`. Regular arrivals begin at a random phase: at multiples of the timer interrupt's
    /// frequency they would otherwise meet it always or never.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a rate of at most 1e9")]
    pub(super) fn new(pacing: &Pacing) -> Self {
        let gap_ns = 1e9 / pacing.rate_per_s.max(1) as f64;
        let mut random = ChaCha8Rng::seed_from_u64(pacing.seed);
        let base_ns = match pacing.arrivals {
            Arrivals::Even => gap_ns * unit(&mut random),
            Arrivals::Burst(messages) => gap_ns * f64::from(messages) * unit(&mut random),
            Arrivals::Poisson => 0.0,
        };
        Self { arrivals: pacing.arrivals, gap_ns, random, next: 0, base_ns }
    }

    /// Time at which the next message is due, ns after the start.
    #[inline]
    #[allow(clippy::cast_precision_loss, reason = "a number of messages")]
    pub(super) fn next_ns(&mut self) -> f64 {
        let number = self.next;
        self.next += 1;
        match self.arrivals {
            Arrivals::Even => self.base_ns + number as f64 * self.gap_ns,
            Arrivals::Burst(messages) => {
                let first = number - number % u64::from(messages);
                self.base_ns + first as f64 * self.gap_ns
            }
            Arrivals::Poisson => {
                self.base_ns += self.gap_ns * exponential(&mut self.random);
                self.base_ns
            }
        }
    }

    /// Times at which each quarter of `messages` has become due, ns after the start.
    #[must_use]
    pub(super) fn checkpoints_ns(mut self, messages: u64) -> [f64; CHECKPOINTS] {
        let quarters = std::array::from_fn(|quarter| checkpoint_message(messages, quarter));
        let (mut last_ns, mut number) = (0.0, 0);
        quarters.map(|due: u64| {
            while number < due {
                last_ns = self.next_ns();
                number += 1;
            }
            last_ns
        })
    }
}

/// Number of messages that are due at checkpoint `quarter`, from 0.
#[must_use]
pub fn checkpoint_message(messages: u64, quarter: usize) -> u64 {
    let part = u128::from(messages) * (quarter as u128 + 1) / CHECKPOINTS as u128;
    // A part of a 64-bit number.
    u64::try_from(part).unwrap_or(messages)
}

/// Random number in [0, 1).
fn unit(random: &mut ChaCha8Rng) -> f64 {
    random.random()
}

/// Exponentially distributed number with mean 1, by inversion of the distribution function (Devroye 1986, chapter II.2).
fn exponential(random: &mut ChaCha8Rng) -> f64 {
    // 1 - u lies in (0, 1], so the logarithm is finite.
    -(1.0 - unit(random)).ln()
}

#[cfg(test)]
mod tests {
    use ipcperf_model::pacing::Pacer;

    use super::*;

    fn pacing(arrivals: Arrivals, seed: u64) -> Pacing {
        Pacing { rate_per_s: 1_000, arrivals, pacer: Pacer::Spin, messages: 8, seed }
    }

    fn times_ns(arrivals: Arrivals, seed: u64, messages: usize) -> Vec<f64> {
        let mut schedule = Schedule::new(&pacing(arrivals, seed));
        std::iter::repeat_with(|| schedule.next_ns()).take(messages).collect()
    }

    #[test]
    fn even_messages_have_equal_gaps_and_a_random_phase() {
        let one = times_ns(Arrivals::Even, 1, 5);
        assert!(one[0] >= 0.0 && one[0] < 1e6);
        assert!(one.windows(2).all(|pair| (pair[1] - pair[0] - 1e6).abs() < 1e-3), "{one:?}");
        assert!((one[0] - times_ns(Arrivals::Even, 2, 1)[0]).abs() > 1.0);
    }

    #[test]
    fn the_messages_of_a_burst_are_due_at_once() {
        let times = times_ns(Arrivals::Burst(3), 1, 7);
        assert!(times[..3].iter().chain(&times[3..6]).all(|ns| times.contains(ns)));
        let bursts = [times[0], times[3], times[6]];
        assert_eq!([times[0]; 3], times[..3]);
        assert!(bursts.windows(2).all(|pair| (pair[1] - pair[0] - 3e6).abs() < 1e-3));
        assert!(bursts[0] < 3e6);
    }

    #[test]
    fn both_peers_draw_the_same_times() {
        for arrivals in [Arrivals::Even, Arrivals::Poisson, Arrivals::Burst(2)] {
            let same: Vec<u64> = times_ns(arrivals, 7, 9).into_iter().map(f64::to_bits).collect();
            let again: Vec<u64> = times_ns(arrivals, 7, 9).into_iter().map(f64::to_bits).collect();
            assert_eq!(same, again);
        }
    }

    #[test]
    fn checkpoints_are_the_times_of_every_quarter() {
        let times = times_ns(Arrivals::Poisson, 3, 10);
        let quarters = Schedule::new(&pacing(Arrivals::Poisson, 3)).checkpoints_ns(10);
        assert_eq!(
            quarters.map(f64::to_bits),
            [times[1], times[4], times[6], times[9]].map(f64::to_bits)
        );
        let none = Schedule::new(&pacing(Arrivals::Even, 3)).checkpoints_ns(1);
        assert_eq!(none[..3].iter().map(|ns| ns.to_bits()).sum::<u64>(), 0);
    }

    /// Kolmogorov-Smirnov distance between the gaps of a seed and the exponential distribution, times the square root of
    /// their number.
    fn distance(seed: u64, gaps: usize) -> f64 {
        let times = times_ns(Arrivals::Poisson, seed, gaps);
        let before = std::iter::once(0.0).chain(times.iter().copied());
        let mut gaps_ns: Vec<f64> =
            times.iter().zip(before).map(|(time, before)| time - before).collect();
        gaps_ns.sort_by(f64::total_cmp);
        #[allow(clippy::cast_precision_loss, reason = "small numbers")]
        let far = gaps_ns.iter().enumerate().map(|(index, gap_ns)| {
            let (below, theory) = (index as f64 / gaps as f64, 1.0 - (-gap_ns / 1e6).exp());
            (theory - below).abs().max((theory - below - 1.0 / gaps as f64).abs())
        });
        #[allow(clippy::cast_precision_loss, reason = "a small number")]
        let root = (gaps as f64).sqrt();
        far.fold(0.0, f64::max) * root
    }

    /// Distribution function of the limit of [`distance`] (Kolmogorov 1933).
    fn kolmogorov(x: f64) -> f64 {
        let term =
            |k: i32| (-2.0 * f64::from(k * k) * x * x).exp() * if k % 2 == 0 { -1.0 } else { 1.0 };
        1.0 - 2.0 * (1..=100).map(term).sum::<f64>()
    }

    /// The p-values of 100 seeds are uniform themselves: their own distance from uniform has a p-value above 0.001. The
    /// seeds are fixed, so the test gives the same answer every time.
    #[test]
    fn gaps_of_poisson_arrivals_are_exponential() {
        let mut p_values: Vec<f64> =
            (0..100).map(|seed| 1.0 - kolmogorov(distance(seed, 2_000))).collect();
        p_values.sort_by(f64::total_cmp);
        let far = p_values.iter().zip(0_u32..).map(|(p, index)| {
            let below = f64::from(index) / 100.0;
            (p - below).abs().max((p - below - 0.01).abs())
        });
        let far = far.fold(0.0, f64::max) * 10.0;
        assert!(1.0 - kolmogorov(far) > 0.001, "{p_values:?}");
    }
}
