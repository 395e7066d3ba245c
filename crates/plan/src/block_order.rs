//! Order of runs: one block after another, with the cases shuffled within each block.

use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{Rng as _, SeedableRng};

/// Returns the order of `cases` in `block`, as case numbers. The same seed gives the same order on every machine:
/// ChaCha8 is specified bit by bit, and each block has a separate stream.
pub fn block_order(cases: usize, seed: u64, block: u32) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(u64::from(block));
    let mut order: Vec<usize> = (0..cases).collect();
    order.shuffle(&mut random);
    order
}

/// Returns the seed of the schedule of a paced run: attempt `attempt` of the run at `position` in `block`. Each run has
/// a different one, so that a mechanism does not always meet the same bursts.
#[must_use]
pub fn schedule_seed(seed: u64, block: u32, position: usize, attempt: u32) -> u64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // The streams of the blocks' orders have numbers below 2^32.
    random.set_stream(1 << 32 | u64::from(block));
    let run = (position as u64) << 16 | u64::from(attempt);
    random.set_word_pos(u128::from(run) * 2);
    random.next_u64()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_block_holds_every_case_once(cases in 0_usize..300, seed: u64, block: u32) {
            let mut order = block_order(cases, seed, block);
            order.sort_unstable();
            prop_assert_eq!(order, (0..cases).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_order_is_the_seeds_and_each_block_has_its_own() {
        // Recorded values: a change here would change the meaning of stored seeds.
        assert_eq!(block_order(8, 1, 0), RECORDED);
        assert_ne!(block_order(8, 1, 0), block_order(8, 1, 1));
        assert_ne!(block_order(8, 1, 0), block_order(8, 2, 0));
    }

    #[test]
    fn every_run_has_a_schedule_of_its_own() {
        let runs = (0..4)
            .flat_map(|block| (0..5).flat_map(move |place| [(block, place, 1), (block, place, 2)]));
        let seeds: Vec<u64> =
            runs.map(|(block, place, attempt)| schedule_seed(1, block, place, attempt)).collect();
        let distinct: std::collections::HashSet<&u64> = seeds.iter().collect();
        assert_eq!((distinct.len(), schedule_seed(1, 0, 0, 1)), (40, seeds[0]));
        assert_ne!(schedule_seed(2, 0, 0, 1), seeds[0]);
    }

    const RECORDED: [usize; 8] = [3, 4, 5, 2, 7, 1, 6, 0];
}
