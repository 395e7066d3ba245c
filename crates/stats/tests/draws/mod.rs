//! Random values of known distributions, for the tests that simulate. The seed is fixed: such a test
//! fails for a change of the code, not of the weather.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How one value is drawn.
#[allow(dead_code, reason = "each test takes what it needs")]
pub(crate) type Draw = fn(&mut ChaCha8Rng) -> f64;

/// The same random numbers for every test.
pub(crate) fn seeded() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(20_261_120)
}

/// A standard normal value, by Box and Muller (1958).
pub(crate) fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

/// An exponential value with mean 1.
#[allow(dead_code, reason = "each test takes what it needs")]
pub(crate) fn exponential(random: &mut ChaCha8Rng) -> f64 {
    -(1.0 - random.random::<f64>()).ln()
}

/// The share of `samples` in which `right` holds.
pub(crate) fn share(samples: u32, mut right: impl FnMut() -> bool) -> f64 {
    f64::from((0..samples).map(|_| u32::from(right())).sum::<u32>()) / f64::from(samples)
}
