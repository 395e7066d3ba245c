//! Order of messages of different sizes, which both peers derive from the seed of the run.
//!
//! Any hundred messages in a row, counted from the first, have the shares of the mixture as nearly as whole messages can:
//! with independent draws, two runs would move different amounts. Within the hundred, the order is random.

use ipcperf_model::RunSpec;
use ipcperf_model::message_sizes::{MessageSizes, WHOLE};
use ipcperf_model::workload::Arrangement;
use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;

/// Number of messages after which the order repeats itself: enough for every share to be exact, and more than a branch
/// predictor learns.
const PERIOD: usize = WHOLE as usize;
/// Number of messages that are shuffled together.
const STRATUM: usize = 100;

/// Sizes of the messages of a run, by number.
#[derive(Clone, Debug)]
pub struct MessageOrder {
    /// In ascending order.
    sizes: Vec<usize>,
    /// Index of the size of each message of a period. A byte each, so that a period fits into the second-level cache.
    indices: Vec<u8>,
}

impl MessageOrder {
    /// Draws the order of the messages over `connection` of `spec`; `None` if they have one size. Each sender has its own
    /// order: with one for all, their large messages would meet.
    #[must_use]
    pub fn from_spec(spec: &RunSpec, connection: usize) -> Option<Self> {
        let sizes = spec.message_options.sizes?;
        let seed = match spec.workload.facts().arrangement {
            // Every receiver gets the same messages.
            Arrangement::OneToMany => spec.order_seed,
            _ => spec.order_seed.wrapping_add(connection as u64),
        };
        Some(Self::new(&sizes, seed))
    }

    fn new(sizes: &MessageSizes, seed: u64) -> Self {
        let mut indices = stratified(sizes);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        indices.chunks_mut(STRATUM).for_each(|stratum| stratum.shuffle(&mut random));
        let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        Self { sizes: sizes.shares().iter().map(|one| bytes(one.bytes)).collect(), indices }
    }

    /// Size of message `number`, bytes.
    #[inline]
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "below the period")]
    pub fn message_bytes(&self, number: u64) -> usize {
        self.sizes[usize::from(self.indices[(number % PERIOD as u64) as usize])]
    }

    /// Whether a message may have `bytes`.
    #[must_use]
    pub fn has_size(&self, bytes: usize) -> bool {
        self.sizes.contains(&bytes)
    }

    /// Payload of the first `messages`, bytes.
    #[must_use]
    pub fn total_bytes(&self, messages: u64) -> u64 {
        let sum = |messages| (0..messages).map(|number| self.message_bytes(number) as u64).sum();
        let (periods, rest) = (messages / PERIOD as u64, messages % PERIOD as u64);
        let (period, rest): (u64, u64) = (sum(PERIOD as u64), sum(rest));
        periods.saturating_mul(period).saturating_add(rest)
    }
}

/// Indices of the sizes of a period, spread evenly: the next message has the size that is furthest behind its share.
fn stratified(sizes: &MessageSizes) -> Vec<u8> {
    let shares: Vec<i64> = sizes.shares().iter().map(|one| i64::from(one.share)).collect();
    let mut owed = vec![0_i64; shares.len()];
    let mut next = || {
        owed.iter_mut().zip(&shares).for_each(|(owed, share)| *owed += share);
        let (index, _) = (0_u8..).zip(&owed).max_by_key(|(_, owed)| **owed).unwrap_or((0, &0));
        owed[usize::from(index)] -= i64::from(WHOLE);
        index
    };
    (0..PERIOD).map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;
    use proptest::prelude::*;

    use super::*;

    fn order(text: &str, seed: u64) -> MessageOrder {
        MessageOrder::new(&text.parse().unwrap(), seed)
    }

    proptest! {
        #[test]
        fn shares_are_exact_in_a_period_and_nearly_so_in_each_hundred(share in 1_u32..WHOLE, seed: u64) {
            let percent = f64::from(share) / 100.0;
            let order = order(&format!("1:{percent}%,8:{}%", f64::from(WHOLE - share) / 100.0), seed);
            let small = |range: std::ops::Range<u64>| {
                range.filter(|&number| order.message_bytes(number) == 1).count() as f64
            };
            prop_assert_eq!(small(0..PERIOD as u64), f64::from(share));
            for first in (0..PERIOD as u64).step_by(STRATUM) {
                prop_assert!((small(first..first + STRATUM as u64) - percent).abs() <= 1.0);
            }
        }

        #[test]
        fn the_total_is_the_sum_of_the_sizes(messages in 0_u64..25_000, seed: u64) {
            let order = order("3:60%,7:30%,1000:10%", seed);
            let sum: u64 = (0..messages).map(|number| order.message_bytes(number) as u64).sum();
            prop_assert_eq!(order.total_bytes(messages), sum);
        }
    }

    #[test]
    fn the_order_is_that_of_the_seed() {
        let sizes = |seed| {
            let order = order("1:50%,2:50%", seed);
            (0..200).map(|number| order.message_bytes(number)).collect::<Vec<_>>()
        };
        assert_eq!(sizes(1), sizes(1));
        assert_ne!(sizes(1), sizes(2));
        assert_ne!(sizes(1)[..100], sizes(1)[100..]);
    }

    #[test]
    fn senders_have_their_own_order_and_receivers_of_one_sender_the_same() {
        let first_differs = |workload| {
            let mut spec = RunSpec { workload, ..RunSpec::with_defaults("pipe", 2) };
            spec.message_options.sizes = Some("1:50%,2:50%".parse().unwrap());
            let [one, other] = [0, 1].map(|at| MessageOrder::from_spec(&spec, at).unwrap());
            (0..100).any(|number| one.message_bytes(number) != other.message_bytes(number))
        };
        for workload in [WorkloadKind::FanIn, WorkloadKind::Server, WorkloadKind::Pairs] {
            assert!(first_differs(workload), "{workload:?}");
        }
        assert!(!first_differs(WorkloadKind::FanOut));
    }
}
