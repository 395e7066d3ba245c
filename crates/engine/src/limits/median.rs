//! The middle of a few hundred batches, as every figure here is made.

/// The upper median: a batch that was interrupted moves it by one place, however long it took.
/// `None` of nothing.
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
