//! Quantiles of the types numbered by Hyndman and Fan (1996, *Sample Quantiles in Statistical Packages*, The American
//! Statistician 50). Type 7, linear interpolation between order statistics, is the default of R, `NumPy` and `SciPy`,
//! and of this crate.

use crate::degenerate::{Degenerate, check_count, check_finite};

/// Type of a sample quantile, numbered as by Hyndman and Fan (1996).
///
/// The types differ in the position, counted from 1, that a probability `p` has among `n` ascending values. All but the
/// first interpolate linearly between the two values next to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantileType {
    /// Type 1, the inverse of the empirical distribution: position `n p`, rounded up. Always an observed value.
    InvertedCdf,
    /// Type 5 (Hazen 1914): position `n p + 1/2`.
    Hazen,
    /// Type 6 (Weibull 1939): position `(n + 1) p`, the mean rank of that quantile.
    Weibull,
    /// Type 7 (Gumbel 1939): position `(n - 1) p + 1`. The default here as in R and `NumPy`.
    Linear,
    /// Type 8: position `(n + 1/3) p + 1/3`, approximately median-unbiased for any distribution; recommended by Hyndman
    /// and Fan.
    MedianUnbiased,
}

/// Median and quartiles of a set of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// First quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
}

/// Quantile `p` of `sorted`, in ascending order, of type 7. `None` for no values or a `p` outside 0 to 1.
#[must_use]
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    quantile_of_type(sorted, p, QuantileType::Linear)
}

/// Quantile `p` of `sorted`, in ascending order, of the type `kind`. `None` for no values or a `p` outside 0 to 1, and
/// between two different infinities.
#[must_use]
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a position within the slice"
)]
pub fn quantile_of_type(sorted: &[f64], p: f64, kind: QuantileType) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    if !(0.0..=1.0).contains(&p) {
        return None;
    }
    let position = position(sorted.len() as f64, p, kind).clamp(0.0, last as f64);
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    let fraction = position - below as f64;
    // No interpolation between equal values, which may be infinite.
    if fraction == 0.0 || sorted[below] == sorted[above] {
        return Some(sorted[below]);
    }
    Some(interpolate(sorted[below], sorted[above], fraction)).filter(|value| !value.is_nan())
}

/// Value at the fraction `share` of the way from one value to the other. Their distance may exceed the largest double.
pub(crate) fn interpolate(from: f64, to: f64, share: f64) -> f64 {
    let apart = to - from;
    if apart.is_finite() { from + share * apart } else { (1.0 - share) * from + share * to }
}

/// Position, counted from 0, of the quantile `p` among `n` values; for some types it is outside them at the ends.
fn position(n: f64, p: f64, kind: QuantileType) -> f64 {
    match kind {
        QuantileType::InvertedCdf => (n * p).ceil() - 1.0,
        QuantileType::Hazen => n * p - 0.5,
        QuantileType::Weibull => (n + 1.0) * p - 1.0,
        QuantileType::Linear => p * (n - 1.0),
        QuantileType::MedianUnbiased => (n + 1.0 / 3.0) * p - 2.0 / 3.0,
    }
}

/// Median and quartiles of `values` in any order, of type 7.
///
/// # Errors
///
/// Returns an error for no values, or one that is not finite.
pub fn quartiles(values: &[f64]) -> Result<Quartiles, Degenerate> {
    check_count(values, 1)?;
    check_finite(values)?;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |p: f64| quantile(&sorted, p).ok_or(Degenerate::NotFinite);
    Ok(Quartiles { q1: at(0.25)?, median: at(0.5)?, q3: at(0.75)? })
}

/// `values` in ascending order. `None` for no values or if a value is not finite.
pub(crate) fn ascending(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(sorted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_values_have_no_quantile() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quartiles(&[]), Err(Degenerate::TooFew { given: 0, needed: 1 }));
        assert_eq!(quartiles(&[1.0, f64::NAN]), Err(Degenerate::NotFinite));
        assert_eq!(quantile(&[1.0], 1.5), None);
    }

    #[test]
    fn one_value_is_its_own_quartiles() {
        let only = quartiles(&[3.5]).unwrap();
        assert_eq!((only.q1, only.median, only.q3), (3.5, 3.5, 3.5));
    }

    #[test]
    fn infinities_make_no_nan() {
        let sorted = [1.0, f64::INFINITY, f64::INFINITY];
        assert_eq!(quantile(&sorted, 0.75), Some(f64::INFINITY));
    }

    #[test]
    fn the_types_differ_where_they_should() {
        let sorted = [1.0, 2.0, 3.0, 4.0];
        let q1 = |kind| quantile_of_type(&sorted, 0.25, kind).unwrap();
        assert_eq!(q1(QuantileType::InvertedCdf), 1.0);
        assert_eq!(q1(QuantileType::Hazen), 1.5);
        assert_eq!(q1(QuantileType::Weibull), 1.25);
        assert_eq!(q1(QuantileType::Linear), 1.75);
        assert!((q1(QuantileType::MedianUnbiased) - 17.0 / 12.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn quartiles_ascend_within_the_values(values in prop::collection::vec(-1e9_f64..1e9, 1..50)) {
            let Quartiles { q1, median, q3 } = quartiles(&values).unwrap();
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(low <= q1 && q1 <= median && median <= q3 && q3 <= high);
        }
    }
}
