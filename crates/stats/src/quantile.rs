//! Quantiles of type 7 in the numbering of Hyndman and Fan (1996, *Sample Quantiles in Statistical
//! Packages*, The American Statistician 50): linear interpolation between order statistics, what R,
//! `NumPy` and `SciPy` compute by default.

/// Median and quartiles of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// First quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
}

/// The quantile `p` of `sorted`, which ascends. `None` for no values or a `p` outside 0 to 1.
#[must_use]
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a position within the slice"
)]
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    if !(0.0..=1.0).contains(&p) {
        return None;
    }
    let position = p * last as f64;
    let below = (position.floor() as usize).min(last);
    let above = (below + 1).min(last);
    let fraction = position - below as f64;
    Some(sorted[below] + fraction * (sorted[above] - sorted[below]))
}

/// Median and quartiles of `values` in any order. `None` for no values or where one is NaN.
#[must_use]
pub fn quartiles(values: &[f64]) -> Option<Quartiles> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(Quartiles {
        q1: quantile(&sorted, 0.25)?,
        median: quantile(&sorted, 0.5)?,
        q3: quantile(&sorted, 0.75)?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_values_have_no_quantile() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quartiles(&[]), None);
        assert_eq!(quartiles(&[1.0, f64::NAN]), None);
        assert_eq!(quantile(&[1.0], 1.5), None);
    }

    #[test]
    fn one_value_is_its_own_quartiles() {
        let only = quartiles(&[3.5]).unwrap();
        assert_eq!((only.q1, only.median, only.q3), (3.5, 3.5, 3.5));
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
