//! Simulated values and curves with a known truth, and the coverage of their intervals. Shared by the tests and by
//! `examples/coverage.rs`, which prints the tables.

#![allow(dead_code, reason = "each user takes what it needs")]

use ipcperf_stats::{BlockSelection, Bootstrap, Course, Curve, Interval, OpenInterval, crossing};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use crate::draws::{Draw, normal, seeded};

/// A distribution with its true location.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) draw: Draw,
    pub(crate) median: f64,
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

/// Distributions for the simulations. The modes of the bimodal ones are at 0 and 1, each with a standard deviation of
/// 0.1. The median of the second lies where there are hardly any values.
pub(crate) const KNOWN: [Known; 4] = [
    Known { name: "normal", draw: normal, median: 0.0, mean: 0.0, deviation: 1.0 },
    Known {
        name: "lognormal",
        draw: lognormal,
        median: 1.0,
        // exp(0.5^2 / 2), and that times the root of exp(0.5^2) - 1
        mean: 1.133_148_453_066_826_3,
        deviation: 0.603_900_706_2,
    },
    Known {
        name: "bimodal 70:30",
        draw: bimodal_uneven,
        // 0.1 times the normal quantile of 0.5 / 0.7
        median: 0.056_594_882_2,
        mean: 0.3,
        deviation: 0.469_041_575_9,
    },
    Known {
        name: "bimodal 50:50",
        draw: bimodal_even,
        median: 0.5,
        mean: 0.5,
        deviation: 0.509_901_951_3,
    },
];

fn lognormal(random: &mut ChaCha8Rng) -> f64 {
    (0.5 * normal(random)).exp()
}

fn bimodal_uneven(random: &mut ChaCha8Rng) -> f64 {
    0.1 * normal(random) + if random.random::<f64>() < 0.3 { 1.0 } else { 0.0 }
}

fn bimodal_even(random: &mut ChaCha8Rng) -> f64 {
    0.1 * normal(random) + if random.random::<f64>() < 0.5 { 1.0 } else { 0.0 }
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Coverage and width of intervals over simulated sets.
pub(crate) struct Held {
    /// Share of intervals that contained the truth; a missing interval counts as a miss.
    pub(crate) share: f64,
    /// Median width, infinite if most are unbounded.
    pub(crate) width: f64,
}

impl Held {
    /// Summarizes `sets` answers: each an optional interval.
    fn over(sets: u32, truth: f64, mut answer: impl FnMut() -> Option<Interval>) -> Self {
        let answers: Vec<Option<Interval>> = (0..sets).map(|_| answer()).collect();
        let holds = |i: &&Interval| i.low <= truth && truth <= i.high;
        let holding = answers.iter().flatten().filter(holds).count();
        let mut widths: Vec<f64> = answers.iter().flatten().map(|i| i.high - i.low).collect();
        widths.sort_by(f64::total_cmp);
        let width = widths.get(widths.len() / 2).copied().unwrap_or(f64::INFINITY);
        Self { share: holding as f64 / f64::from(sets), width }
    }
}

/// Coverage of intervals for sets of `n` values of `known`; widths in standard deviations.
pub(crate) fn of_values(
    sets: u32,
    n: usize,
    known: &Known,
    truth: f64,
    interval: impl Fn(&[f64]) -> Option<Interval>,
) -> Held {
    let mut random = seeded();
    let held = Held::over(sets, truth, || {
        let values: Vec<f64> = (0..n).map(|_| (known.draw)(&mut random)).collect();
        interval(&values)
    });
    Held { width: held.width / known.deviation, ..held }
}

/// Scatter of single values of a simulated curve.
#[derive(Clone, Copy)]
pub(crate) enum Noise {
    /// Normal, with a coefficient of variation of 3 %.
    Normal3,
    /// Lognormal, with a coefficient of variation of 5 %.
    Lognormal5,
}

impl Noise {
    pub(crate) const ALL: [Self; 2] = [Self::Normal3, Self::Lognormal5];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Normal3 => "normal, 3 %",
            Self::Lognormal5 => "lognormal, 5 %",
        }
    }

    fn factor(self, random: &mut ChaCha8Rng) -> f64 {
        match self {
            Self::Normal3 => 1.0 + 0.03 * normal(random),
            Self::Lognormal5 => (0.05 * normal(random)).exp(),
        }
    }
}

/// Exponents of the levels of simulated curves: 2^9 to 2^20.
const EXPONENTS: std::ops::RangeInclusive<i32> = 9..=20;

/// Parameters of the simulation of curves.
#[derive(Clone, Copy)]
pub(crate) struct Planting {
    pub(crate) sets: u32,
    pub(crate) blocks: usize,
    pub(crate) noise: Noise,
    pub(crate) bootstrap: Bootstrap,
}

impl Planting {
    /// Simulates a curve around `log2 level -> log y`. `pace`, the speed of the machine in each block, is common to all
    /// levels of a block.
    fn grow(&self, random: &mut ChaCha8Rng, pace: &[f64], log_y: impl Fn(f64) -> f64) -> Curve {
        let mut block = |pace: &f64| {
            let value = |k| Some(pace * log_y(f64::from(k)).exp() * self.noise.factor(random));
            EXPONENTS.map(value).collect()
        };
        let blocks = pace.iter().map(&mut block).collect();
        Curve::new(EXPONENTS.map(|k| f64::from(k).exp2()).collect(), blocks).unwrap()
    }

    fn pace(&self, random: &mut ChaCha8Rng) -> Vec<f64> {
        (0..self.blocks).map(|_| (0.1 * normal(random)).exp()).collect()
    }

    /// Simulates one curve after another around `log_y`.
    fn curves(&self, log_y: impl Fn(f64) -> f64) -> impl FnMut() -> Curve {
        let mut random = seeded();
        let planting = *self;
        move || {
            let pace = planting.pace(&mut random);
            planting.grow(&mut random, &pace, &log_y)
        }
    }

    /// Coverage of the lasting crossing at 2^`at`, where the logarithm of the ratio grows by `steepness` per doubling.
    /// Widths in doublings.
    pub(crate) fn crossing(&self, at: f64, steepness: f64) -> Held {
        let mut random = seeded();
        Held::over(self.sets, at, || {
            let pace = self.pace(&mut random);
            let flat = self.grow(&mut random, &pace, |_| 1.0);
            let rising = self.grow(&mut random, &pace, |x| 1.0 + steepness * (x - at));
            match crossing(&rising, &flat, &self.bootstrap).unwrap().course {
                Course::Once(lasting) | Course::Several { lasting, .. } => {
                    lasting.interval.map(|open| doublings(&open))
                }
                _ => None,
            }
        })
    }

    /// Coverage of the peak of a parabola, on logarithmic scales, with its top at 2^`top`: the truth is the level
    /// nearest to the top. Widths in doublings.
    pub(crate) fn peak(&self, top: f64, curvature: f64) -> Held {
        let mut next = self.curves(|x| 1.0 - curvature * (x - top).powi(2));
        Held::over(self.sets, top.round(), || {
            let peak = next().peak(BlockSelection::All, &self.bootstrap).unwrap();
            peak.interval.map(|i| Interval { low: i.low.log2(), high: i.high.log2() })
        })
    }

    /// Coverage of the position of a hinge at 2^`at` between the slopes 0.3 and 0. Widths in doublings.
    pub(crate) fn hinge(&self, at: f64) -> Held {
        let mut next = self.curves(bent(at));
        Held::over(self.sets, at, || {
            let interval = next().change_point(&self.bootstrap).unwrap().interval?;
            Some(Interval { low: interval.low.log2(), high: interval.high.log2() })
        })
    }

    /// Share of straight lines, slope 0.3, in which a hinge is found at 5 %.
    pub(crate) fn false_hinges(&self) -> f64 {
        self.share_of_hinges(bent(f64::INFINITY))
    }

    /// Share of hinges at 2^`at` that are found at 5 %.
    pub(crate) fn hinges_found(&self, at: f64) -> f64 {
        self.share_of_hinges(bent(at))
    }

    fn share_of_hinges(&self, log_y: impl Fn(f64) -> f64) -> f64 {
        let mut next = self.curves(log_y);
        let mut found = || next().change_point(&self.bootstrap).unwrap().p_value.unwrap() < 0.05;
        crate::draws::share(self.sets, &mut found)
    }

    /// Coverage for the slope 0.3, of the intervals of the median of the slopes by block and of their mean.
    pub(crate) fn slope(&self) -> (Held, Held) {
        let slopes = |of: fn(ipcperf_stats::Slope) -> Option<Interval>| {
            let mut next = self.curves(bent(f64::INFINITY));
            Held::over(self.sets, 0.3, || of(next().slope(&self.bootstrap).unwrap()))
        };
        (slopes(|s| s.median_interval), slopes(|s| s.mean_interval))
    }

    /// Coverage of the height 1 of a plateau, found with a tolerance of 10 %; widths relative to the height.
    pub(crate) fn plateau(&self) -> Held {
        let mut next = self.curves(|x| (0.2 * (x - 14.0)).min(0.0));
        Held::over(self.sets, 1.0, || {
            next().plateau(0.1, &self.bootstrap).unwrap().and_then(|plateau| plateau.interval)
        })
    }
}

/// A line of slope 0.3 up to 2^`at`, and flat from there; a function of the base-2 logarithm.
fn bent(at: f64) -> impl Fn(f64) -> f64 {
    move |x| 0.3 * std::f64::consts::LN_2 * x.min(at)
}

fn doublings(open: &OpenInterval) -> Interval {
    let end = |level: Option<f64>, beyond: f64| level.map_or(beyond, f64::log2);
    Interval { low: end(open.low, f64::NEG_INFINITY), high: end(open.high, f64::INFINITY) }
}
