//! How repetitions of one case scatter: independently, with heavy tails, or as the one before did.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::file::normal;

/// How the logarithms of a case scatter around their median, with a standard deviation of 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Noise {
    /// Independent and normal.
    Normal,
    /// Independent, of Student's t with 3 degrees of freedom.
    HeavyTailed,
    /// Autoregressive of first order: the correlation with the repetition before.
    Autoregressive(f64),
    /// In one of two modes, 1.9 standard deviations apart, left for the other at one repetition in ten.
    Modes,
}

/// All of them: those that are independent first.
pub(super) const NOISES: [Noise; 5] = [
    Noise::Normal,
    Noise::HeavyTailed,
    Noise::Autoregressive(0.5),
    Noise::Autoregressive(0.8),
    Noise::Modes,
];

/// Half of the distance between modes; the rest of the variance is within them.
const MODE: f64 = 0.95;
/// The probability that a case changes its mode from one repetition to the next.
const CHANGES: f64 = 0.1;

impl Noise {
    pub(super) fn name(self) -> String {
        match self {
            Self::Normal => "Independent blocks, normal".to_owned(),
            Self::HeavyTailed => "Independent blocks, heavy tails".to_owned(),
            Self::Autoregressive(share) => format!("Autoregressive blocks, correlation {share}"),
            Self::Modes => "Modes that persist".to_owned(),
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
    /// A case that has been repeated for long.
    pub(super) fn new(noise: Noise, random: &mut ChaCha8Rng) -> Self {
        let last = match noise {
            Noise::Modes if random.random::<f64>() < 0.5 => -MODE,
            Noise::Modes => MODE,
            _ => normal(random),
        };
        Self { noise, last }
    }

    /// How far off the next repetition is.
    pub(super) fn next(&mut self, random: &mut ChaCha8Rng) -> f64 {
        match self.noise {
            Noise::Normal => normal(random),
            Noise::HeavyTailed => {
                let square: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
                // Of variance 3: over its root.
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
