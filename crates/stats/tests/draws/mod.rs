//! Random values of known distributions, for tests that simulate. The seed is fixed, so that such a test fails only
//! after a change of the code.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Function that draws one value.
#[allow(dead_code, reason = "each test takes what it needs")]
pub(crate) type Draw = fn(&mut ChaCha8Rng) -> f64;

/// Random numbers that are the same for every test.
pub(crate) fn seeded() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(20_261_120)
}

/// Draws a standard normal value, by Box and Muller (1958).
pub(crate) fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

/// Draws an exponential value with mean 1.
#[allow(dead_code, reason = "each test takes what it needs")]
pub(crate) fn exponential(random: &mut ChaCha8Rng) -> f64 {
    -(1.0 - random.random::<f64>()).ln()
}

/// Share of `samples` in which `right` holds.
pub(crate) fn share(samples: u32, mut right: impl FnMut() -> bool) -> f64 {
    f64::from((0..samples).map(|_| u32::from(right())).sum::<u32>()) / f64::from(samples)
}
