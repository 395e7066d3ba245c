//! Means.

/// The geometric mean: the exponential of the mean logarithm. `None` for no values, or where one
/// is not positive, since a ratio to it would mean nothing.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "a count of values")]
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|&value| value.is_nan() || value <= 0.0) {
        return None;
    }
    let logarithms: f64 = values.iter().map(|value| value.ln()).sum();
    Some((logarithms / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_and_one_hundred_is_ten() {
        assert!((geometric_mean(&[1.0, 100.0]).unwrap() - 10.0).abs() < 1e-12);
    }

    #[test]
    fn has_no_answer_for_nothing_or_nothing_positive() {
        for values in [&[][..], &[0.0], &[1.0, -1.0], &[f64::NAN]] {
            assert_eq!(geometric_mean(values), None);
        }
    }
}
