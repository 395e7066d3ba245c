//! Median of a few hundred batches, the statistic of all figures here.

/// Returns the upper median; `None` if there are no values. An interrupted batch moves it by one position, however long
/// it took.
pub(super) fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_does_not_move_the_median() {
        assert_eq!(median(vec![3, 1_000_000, 1, 2, 3]), Some(3));
        assert_eq!(median(vec![2, 1]), Some(2));
        assert_eq!(median(Vec::new()), None);
    }
}
