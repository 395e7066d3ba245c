//! How far two sets of values lie apart, without a unit and whatever their distribution.

/// Cliff's delta (Cliff 1993, *Dominance statistics: ordinal analyses to answer ordinal questions*,
/// Psychological Bulletin 114): the share of pairs in which the value of `first` is the greater, less the
/// share in which that of `second` is. 1 where all of `first` lie above all of `second`, 0 where neither
/// tends to. It is `2 U / (n m) - 1` of the Mann-Whitney U of `first`. `None` where either has no values,
/// or one is not a number.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "counts of pairs, good to 53 bits")]
pub fn cliffs_delta(first: &[f64], second: &[f64]) -> Option<f64> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let mut sorted = second.to_vec();
    sorted.sort_by(f64::total_cmp);
    if first.iter().chain(second).any(|value| value.is_nan()) {
        return None;
    }
    let dominance = |value: &f64| {
        let below = sorted.partition_point(|other| other < value);
        let above = sorted.len() - sorted.partition_point(|other| other <= value);
        below as f64 - above as f64
    };
    let pairs = (first.len() * second.len()) as f64;
    Some(first.iter().map(dominance).sum::<f64>() / pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_apart_are_wholly_apart_and_those_alike_not_at_all() {
        assert_eq!(cliffs_delta(&[3.0, 4.0], &[1.0, 2.0]), Some(1.0));
        assert_eq!(cliffs_delta(&[1.0, 2.0], &[3.0, 4.0]), Some(-1.0));
        assert_eq!(cliffs_delta(&[1.0, 2.0], &[2.0, 1.0]), Some(0.0));
        assert_eq!(cliffs_delta(&[], &[1.0]), None);
        assert_eq!(cliffs_delta(&[f64::NAN], &[1.0]), None);
    }
}
