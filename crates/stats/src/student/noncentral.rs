//! The noncentral t distribution, that of `(Z + delta) / s` for a standard normal Z and an independent s, the square
//! root of a chi-squared value over its degrees of freedom (Johnson, Kotz and Balakrishnan 1995, *Continuous Univariate
//! Distributions*, volume 2, chapter 31). No available library provides it.
//!
//! One of the two variables is integrated in closed form, the other by the trapezoidal rule, which for an analytic
//! integrand that decays at both ends converges faster than any power of the step (Trefethen and Weideman 2014, *The
//! Exponentially Convergent Trapezoidal Rule*, SIAM Review 56). All terms are positive, so small probabilities keep
//! their digits, down to about 1e-20.

use statrs::function::gamma::{gamma_lr, gamma_ur};

use crate::normal::normal_cdf;

/// Weights below e to the power of minus this are left out.
const CUT: f64 = 70.0;
/// Noncentrality up to which the normal part changes slowly enough along s.
const NEAR: f64 = 50.0;
/// Step, relative to the narrowest feature of the integrand: at 0.4 the error of the rule is 4e-13, at 0.6 it is 6e-9.
const STEP: f64 = 0.4;

/// A noncentral t distribution.
#[derive(Clone, Copy)]
pub(crate) struct Noncentral {
    /// Degrees of freedom, at least 1.
    pub(crate) degrees: f64,
    /// The noncentrality, finite.
    pub(crate) delta: f64,
}

impl Noncentral {
    /// Probability of a value above `t`.
    pub(crate) fn above(self, t: f64) -> f64 {
        let p = if self.delta.abs() <= NEAR { self.over_s(t) } else { self.over_z(t) };
        p.clamp(0.0, 1.0)
    }

    /// Probability of a value below `t`.
    pub(crate) fn below(self, t: f64) -> f64 {
        Self { delta: -self.delta, ..self }.above(-t)
    }

    /// Integrates over the logarithm u of s, whose density is proportional to `exp(degrees (u - exp(2 u) / 2))`;
    /// dividing by the sum of the weights normalizes it.
    fn over_s(self, t: f64) -> f64 {
        let Self { degrees, delta } = self;
        let reach = CUT / degrees;
        // For u < 0, the exponent over the degrees is below u + 1/2 and below -u² / (1 - u): the nearer bound counts.
        let low = (reach + 0.5).min(f64::midpoint(reach, (reach * (reach + 4.0)).sqrt()));
        let step = STEP / (1.0 + delta.abs() + (2.0 * degrees).sqrt());
        let weight = |u: f64| (degrees * (u - f64::exp_m1(2.0 * u) / 2.0)).exp();
        average(-low, reach.sqrt(), step, weight, |u| normal_cdf(delta - t * u.exp()))
    }

    /// Integrates over Z, for large noncentralities, where the other integrand has a steep edge.
    fn over_z(self, t: f64) -> f64 {
        let Self { degrees, delta } = self;
        let half = degrees / 2.0;
        let step = STEP / (1.0 + (2.0 * degrees).sqrt() / delta.abs());
        let reach = (2.0 * CUT).sqrt();
        average(
            -reach,
            reach,
            step,
            |z| (-z * z / 2.0).exp(),
            |z| {
                let place = (z + delta) / t;
                let square = half * place * place;
                match (t > 0.0, z + delta > 0.0) {
                    (true, true) => gamma_lr(half, square.min(f64::MAX)),
                    (true, false) => 0.0,
                    (false, true) => 1.0,
                    (false, false) => gamma_ur(half, square.min(f64::MAX)),
                }
            },
        )
    }
}

/// Mean of `value` under `weight` from `low` to `high`.
fn average(
    low: f64,
    high: f64,
    step: f64,
    weight: impl Fn(f64) -> f64,
    value: impl Fn(f64) -> f64,
) -> f64 {
    let places = (0_u32..).map(|k| low + f64::from(k) * step).take_while(|&place| place <= high);
    let (sum, weights) = places.fold((0.0, 0.0), |(sum, weights), place| {
        let weight = weight(place);
        (sum + weight * value(place), weights + weight)
    });
    sum / weights
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference values: mpmath 1.4.1, by quadrature at 30 digits, and SciPy for eight million degrees of freedom; the last
    /// two lie on either side of [`NEAR`].
    #[test]
    fn known_probabilities_come_out() {
        for (t, degrees, delta, p) in [
            (2.1, 9.0, 0.5, 0.082_292_853_047_044_34),
            (2.045, 29.0, 0.0, 0.025_012_037_961_205_84),
            (-2.262, 9.0, 3.0, 0.999_998_640_021_800_6),
            (12.0, 9.0, 1.0, 6.043_301_273_509_594e-6),
            (40.0, 9.0, 0.5, 4.152_463_373_169_697e-11),
            (0.0, 5.0, 2.0, 0.977_249_868_051_820_8),
            (3.0, 8e6, 0.0, 1.349_902_186_491_382_7e-3),
            (1.7, 58.0, -4.0, 9.266_044_077_696_47e-9),
            (112.0, 18.0, 100.0, 0.294_212_348_058_698_35),
            (30.0, 8.0, 49.9, 0.995_084_663_463_540_9),
            (80.0, 8.0, 50.1, 0.074_889_547_236_609_63),
        ] {
            let ours = Noncentral { degrees, delta }.above(t);
            assert!((ours / p - 1.0).abs() < 1e-10, "{t} {degrees} {delta}: {ours:e}, not {p:e}");
        }
    }

    #[test]
    fn without_noncentrality_it_is_students() {
        for (t, degrees) in [(1e6, 3.0), (160.0, 9.0), (20.0, 29.0), (13.0, 58.0), (0.3, 1e4)] {
            let student = super::super::tails(t, degrees).upper;
            assert!(student > 1e-20);
            let ours = Noncentral { degrees, delta: 0.0 }.above(t);
            assert!((ours / student - 1.0).abs() < 1e-10, "{t} {degrees}: {ours:e}, {student:e}");
        }
    }

    #[test]
    fn both_ways_agree_where_both_hold() {
        for degrees in [1.0, 4.0, 30.0, 300.0] {
            for (t, delta) in [(40.0, 45.0), (55.0, 45.0), (-40.0, -45.0), (60.0, 45.0)] {
                let here = Noncentral { degrees, delta };
                let (s, z) = (here.over_s(t), here.over_z(t));
                assert!((s / z - 1.0).abs() < 1e-10, "{t} {degrees} {delta}: {s:e}, {z:e}");
            }
        }
    }

    #[test]
    fn what_is_above_and_below_is_all() {
        for degrees in [1.0, 9.0, 58.0] {
            for delta in [-60.0, -3.0, 0.0, 2.5, 80.0] {
                for t in [-70.0, -1.0, 0.0, 0.5, 3.0, 75.0] {
                    let here = Noncentral { degrees, delta };
                    let whole = here.above(t) + here.below(t);
                    assert!((whole - 1.0).abs() < 1e-12, "{t} {degrees} {delta}: {whole}");
                }
            }
        }
    }
}
