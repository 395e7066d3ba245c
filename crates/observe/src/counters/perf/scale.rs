//! Computes the count of a phase from the readings before and after it. While a thread runs, its group is enabled, but
//! the kernel may let it count only part of that time (running). The count is scaled by time enabled / time running,
//! which assumes that the uncounted part is like the counted one.

use super::group::HEADER_WORDS;
use crate::Reading;

/// Counts of one group, or of all groups of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScaledCount {
    /// Time enabled: the time for which the threads had a CPU, ns.
    pub(super) enabled_ns: u64,
    /// Time running: the part of it in which the group was counted, ns.
    pub(super) running_ns: u64,
    /// Raw count of each counter.
    pub(super) raw: Vec<u64>,
    /// Scaled count of each counter; `None` if the group was never counted.
    pub(super) scaled: Option<Vec<u64>>,
}

impl ScaledCount {
    /// Computes the counts of a group of `counters`; `None` unless it was read twice.
    pub(super) fn from_reading(reading: &Reading, counters: usize) -> Option<Self> {
        let Reading { before, after } = reading;
        if [before.len(), after.len()] != [HEADER_WORDS + counters; 2] {
            return None;
        }
        let deltas: Vec<u64> =
            after.iter().zip(before).map(|(after, before)| after.saturating_sub(*before)).collect();
        let [enabled_ns, running_ns] = [deltas[1], deltas[2]];
        let raw = deltas[HEADER_WORDS..].to_vec();
        let scaled = raw.iter().map(|&raw| scale(raw, enabled_ns, running_ns)).collect();
        Some(Self { enabled_ns, running_ns, raw, scaled })
    }

    /// Adds the counts of another group with the same counters.
    pub(super) fn merge(self, other: Self) -> Self {
        let sums = |one: &[u64], other: &[u64]| -> Vec<u64> {
            one.iter().zip(other).map(|(one, other)| one.saturating_add(*other)).collect()
        };
        Self {
            enabled_ns: self.enabled_ns.saturating_add(other.enabled_ns),
            running_ns: self.running_ns.saturating_add(other.running_ns),
            raw: sums(&self.raw, &other.raw),
            scaled: self.scaled.zip(other.scaled).map(|(one, other)| sums(&one, &other)),
        }
    }

    /// Returns the running share (time running / time enabled); `None` if the group was never enabled.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn running_share(&self) -> Option<f64> {
        (self.enabled_ns > 0).then(|| self.running_ns as f64 / self.enabled_ns as f64)
    }
}

/// Scales `raw` to the whole time enabled. A thread that was never enabled did nothing, so its count is exact.
fn scale(raw: u64, enabled_ns: u64, running_ns: u64) -> Option<u64> {
    match (enabled_ns, running_ns) {
        (0, _) => Some(raw),
        (_, 0) => None,
        (enabled, running) if running >= enabled => Some(raw),
        (enabled, running) => {
            let rounded = (u128::from(raw) * u128::from(enabled) + u128::from(running) / 2)
                / u128::from(running);
            Some(u64::try_from(rounded).unwrap_or(u64::MAX))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reading(before: [u64; 4], after: [u64; 4]) -> Reading {
        Reading { before: before.to_vec(), after: after.to_vec() }
    }

    #[test]
    fn what_was_counted_half_the_time_is_doubled() {
        let told =
            ScaledCount::from_reading(&reading([1, 100, 50, 7], [1, 300, 150, 17]), 1).unwrap();
        assert_eq!((told.raw.clone(), told.scaled.clone()), (vec![10], Some(vec![20])));
        assert_eq!(told.running_share(), Some(0.5));
        let twice = told.clone().merge(told);
        assert_eq!((twice.scaled.clone(), twice.enabled_ns), (Some(vec![40]), 400));
    }

    #[test]
    fn what_was_never_counted_is_not_known() {
        let told =
            ScaledCount::from_reading(&reading([1, 100, 50, 7], [1, 300, 50, 7]), 1).unwrap();
        assert_eq!((told.scaled.clone(), told.running_share()), (None, Some(0.0)));
        let counted = ScaledCount::from_reading(&reading([1, 0, 0, 0], [1, 10, 10, 5]), 1).unwrap();
        assert_eq!(counted.merge(told).scaled, None);
    }

    #[test]
    fn a_thread_that_never_ran_did_nothing() {
        let told = ScaledCount::from_reading(&reading([1, 9, 9, 4], [1, 9, 9, 4]), 1).unwrap();
        assert_eq!((told.scaled.clone(), told.running_share()), (Some(vec![0]), None));
    }

    #[test]
    fn what_could_not_be_read_is_not_told() {
        assert_eq!(ScaledCount::from_reading(&Reading::default(), 1), None);
        let one = Reading { before: vec![1, 0, 0, 0], after: Vec::new() };
        assert_eq!(ScaledCount::from_reading(&one, 1), None);
        assert_eq!(ScaledCount::from_reading(&reading([1, 0, 0, 0], [1, 1, 1, 1]), 2), None);
    }

    proptest! {
        #[test]
        #[allow(clippy::cast_precision_loss)]
        fn it_is_the_rule_of_three(raw in 0_u64..1 << 50, running in 1_u64..1 << 40, more in 0_u64..1 << 40) {
            let enabled = running + more;
            let exact = raw as f64 * enabled as f64 / running as f64;
            let scaled = scale(raw, enabled, running).unwrap() as f64;
            prop_assert!((scaled - exact).abs() <= 0.5 + exact * 1e-12, "{scaled} {exact}");
        }

        #[test]
        fn times_and_counts_of_any_size_do_not_overflow(words in proptest::collection::vec(any::<u64>(), 8)) {
            let reading = Reading { before: words[..4].to_vec(), after: words[4..].to_vec() };
            let told = ScaledCount::from_reading(&reading, 1).unwrap();
            let _ = told.clone().merge(told).running_share();
        }
    }
}
