//! Distributions of the repetitions of a case: independent, heavy-tailed, or dependent on the previous one.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use crate::file::normal;

/// Distribution of the logarithms of a case around their median, with a standard deviation of 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Noise {
    /// Independent and normal.
    Normal,
    /// Independent; Student's t with 3 degrees of freedom.
    HeavyTailed,
    /// Autoregressive of first order, with this correlation between successive repetitions.
    Autoregressive(f64),
    /// Two modes, 1.9 standard deviations apart, with a change of mode in one of ten repetitions.
    Modes,
}

/// All distributions, the independent ones first.
pub(super) const NOISES: [Noise; 5] = [
    Noise::Normal,
    Noise::HeavyTailed,
    Noise::Autoregressive(0.5),
    Noise::Autoregressive(0.8),
    Noise::Modes,
];

/// Half the distance between modes; the remaining variance is within them.
const MODE: f64 = 0.95;
/// Probability that a case changes its mode between repetitions.
const CHANGES: f64 = 0.1;

impl Noise {
    pub(super) fn name(self) -> String {
        match self {
            Self::Normal => "Independent blocks, normal noise".to_owned(),
            Self::HeavyTailed => {
                "Independent blocks, heavy-tailed noise (Student's t with 3 degrees of freedom)"
                    .to_owned()
            }
            Self::Autoregressive(share) => {
                format!("Dependent blocks, correlation {share} between neighboring blocks")
            }
            Self::Modes => {
                "Dependent blocks, two modes, each of which lasts for ten blocks on average"
                    .to_owned()
            }
        }
    }

    pub(super) fn is_independent(self) -> bool {
        matches!(self, Self::Normal | Self::HeavyTailed)
    }
}

/// A case over its repetitions.
pub(super) struct Case {
    noise: Noise,
    last: f64,
}

impl Case {
    /// Creates a case in the stationary state.
    pub(super) fn new(noise: Noise, random: &mut ChaCha8Rng) -> Self {
        let last = match noise {
            Noise::Modes if random.random::<f64>() < 0.5 => -MODE,
            Noise::Modes => MODE,
            _ => normal(random),
        };
        Self { noise, last }
    }

    /// Returns the deviation of the next repetition.
    pub(super) fn next(&mut self, random: &mut ChaCha8Rng) -> f64 {
        match self.noise {
            Noise::Normal => normal(random),
            Noise::HeavyTailed => {
                let square: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
                // Student's t with 3 degrees of freedom has variance 3; this is divided by its root.
                normal(random) / square.sqrt()
            }
            Noise::Autoregressive(share) => {
                self.last = share * self.last + (1.0 - share * share).sqrt() * normal(random);
                self.last
            }
            Noise::Modes => {
                if random.random::<f64>() < CHANGES {
                    self.last = -self.last;
                }
                self.last + (1.0 - MODE * MODE).sqrt() * normal(random)
            }
        }
    }
}
