//! Robust measures of location and spread, which a few outliers do not change much.

use crate::quantile::{ascending, quantile};

/// Median of `values` in any order, in their unit. `None` for no values or if a value is not finite.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    median_in_place(&mut values.to_vec())
}

/// Median of `values`, which are finite; reorders them. `None` for no values.
pub(crate) fn median_in_place(values: &mut [f64]) -> Option<f64> {
    let is_odd = values.len() % 2 == 1;
    // Selection in linear time, since a trend has tens of thousands of slopes.
    let lower = values.len().checked_sub(1)? / 2;
    let (_, &mut middle, above) = values.select_nth_unstable_by(lower, f64::total_cmp);
    if is_odd {
        return Some(middle);
    }
    let next = above.iter().copied().min_by(f64::total_cmp)?;
    quantile(&[middle, next], 0.5)
}

/// Distance between the quartiles of `values`, of type 7, in their unit. `None` for no values, if a value is not
/// finite, or if the distance does not fit into a double.
///
/// Divided by 1.349 it estimates the standard deviation of normal values.
#[must_use]
pub fn interquartile_range(values: &[f64]) -> Option<f64> {
    let sorted = ascending(values)?;
    Some(quantile(&sorted, 0.75)? - quantile(&sorted, 0.25)?).filter(|range| range.is_finite())
}

/// Median of the absolute deviations of `values` from their median (MAD; Hampel 1974, *The Influence Curve and Its Role
/// in Robust Estimation*, JASA 69), in their unit. `None` for no values, if a value is not finite, or if a deviation
/// does not fit into a double.
///
/// It is not scaled: times 1.4826 it estimates the standard deviation of normal values.
#[must_use]
pub fn median_absolute_deviation(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    median(&distances)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_outlier_moves_neither_measure_far() {
        let values = [10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 1e9];
        assert_eq!(median(&values), Some(13.0));
        assert_eq!(interquartile_range(&values), Some(3.0));
        assert_eq!(median_absolute_deviation(&values), Some(2.0));
    }

    #[test]
    fn the_median_is_the_middle_quantile_to_the_last_bit() {
        let mut values: Vec<f64> = (0..40_u32).map(|k| f64::from(k * 7919 % 101) / 3.0).collect();
        values.extend([-0.0, 0.0, 0.0]);
        while !values.is_empty() {
            let quantile = quantile(&ascending(&values).unwrap(), 0.5).unwrap();
            assert_eq!(median(&values).unwrap().to_bits(), quantile.to_bits());
            values.pop();
        }
    }

    #[test]
    fn equal_values_do_not_spread() {
        assert_eq!(interquartile_range(&[2.5; 9]), Some(0.0));
        assert_eq!(median_absolute_deviation(&[2.5]), Some(0.0));
    }

    #[test]
    fn what_is_no_number_has_no_spread() {
        for bad in [&[][..], &[1.0, f64::NAN], &[1.0, f64::INFINITY]] {
            assert_eq!(median(bad), None);
            assert_eq!(interquartile_range(bad), None);
            assert_eq!(median_absolute_deviation(bad), None);
        }
    }
}
