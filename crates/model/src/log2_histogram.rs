//! Histograms over powers of two, as BPF programs keep them in the kernel: cheap to update, and fine enough to
//! distinguish a cluster of fast values from the few slow ones.

/// Number of rows: one for zero, and one for each power of two below 2^63.
pub const ROWS: usize = 64;

/// Returns the row of `value`: 0 for zero, else one more than its binary logarithm.
#[must_use]
pub fn row(value: u64) -> usize {
    ((u64::BITS - value.leading_zeros()) as usize).min(ROWS - 1)
}

/// Returns the lowest value of `row`.
#[must_use]
pub const fn lower_bound(row: usize) -> u64 {
    if row == 0 { 0 } else { 1 << (row - 1) }
}

/// Returns pairs of lowest value and count, from the first row with a count to the last.
#[must_use]
pub fn pairs(counts: &[u64]) -> Vec<(u64, u64)> {
    let Some(first) = counts.iter().position(|&count| count > 0) else { return Vec::new() };
    let last = counts.iter().rposition(|&count| count > 0).unwrap_or(first);
    (first..=last).map(|row| (lower_bound(row), counts[row])).collect()
}

/// Returns the value below which `percent` per cent of the values lie, assuming that values are spread evenly over
/// their row; `None` if there are no values.
#[must_use]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn percentile(pairs: &[(u64, u64)], percent: f64) -> Option<u64> {
    // The pairs may come from an untrusted file: their sum may overflow an integer.
    let total: f64 = pairs.iter().map(|pair| pair.1 as f64).sum();
    let wanted = total * percent / 100.0;
    let mut below = 0.0;
    for &(lower, count) in pairs {
        let count = count as f64;
        if count > 0.0 && below + count >= wanted {
            let share = ((wanted - below) / count).clamp(0.0, 1.0);
            return Some(lower.saturating_add((lower as f64 * share) as u64));
        }
        below += count;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_value_lies_in_its_row(value in 0_u64..1 << 62) {
            let row = row(value);
            prop_assert!(lower_bound(row) <= value && value < lower_bound(row + 1));
        }

        #[test]
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        fn a_percentile_lies_in_the_row_of_the_value(values in proptest::collection::vec(1_u64..1 << 40, 1..200), percent in 0.0_f64..100.0) {
            let mut counts = [0; ROWS];
            for &value in &values {
                counts[row(value)] += 1;
            }
            let mut sorted = values;
            sorted.sort_unstable();
            let rank = (sorted.len() as f64 * percent / 100.0).ceil().max(1.0) as usize - 1;
            let found = percentile(&pairs(&counts), percent).unwrap();
            let true_row = row(sorted[rank]);
            prop_assert!(lower_bound(true_row) <= found && found <= lower_bound(true_row + 1), "{found}");
        }
    }

    #[test]
    fn nothing_has_no_percentile() {
        assert_eq!(percentile(&[], 50.0), None);
        assert_eq!(pairs(&[0; ROWS]), []);
        assert_eq!(pairs(&[0, 2, 0, 1, 0]), [(1, 2), (2, 0), (4, 1)]);
    }
}
