//! Interim looks of `--until-decided`: the numbers of repetitions after which the claims of a study are judged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of repetitions below which a paired test can hardly decide anything.
const MIN_REPETITIONS: u32 = 7;
/// Maximum number of repetitions: more than any study requests, so a larger stored number is an error.
const MAX_REPETITIONS: u32 = 100_000;

/// Interim looks at which the claims of a study are judged while it is measured. A claim that is decided at one
/// look is not judged again, and cases that no open claim needs are not repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Looks {
    /// Number of valid repetitions of a case at each look, ascending.
    pub at_repetitions: Vec<u32>,
}

impl Looks {
    /// Returns looks after a third, a half and two thirds of `max` repetitions, and after all of them. Looks with
    /// too few repetitions to decide anything are omitted.
    pub fn with_max_repetitions(max: u32) -> Self {
        let parts = [max.div_ceil(3), max.div_ceil(2), (max / 3 * 2 + max % 3), max];
        let mut at_repetitions: Vec<u32> =
            parts.into_iter().filter(|&at| at >= MIN_REPETITIONS || at == max).collect();
        at_repetitions.dedup();
        Self { at_repetitions }
    }

    /// Number of repetitions at the first look.
    pub fn first(&self) -> u32 {
        self.at_repetitions.first().copied().unwrap_or(0)
    }

    /// Number of repetitions at the last look.
    pub fn last(&self) -> u32 {
        self.at_repetitions.last().copied().unwrap_or(0)
    }

    /// Returns the significance level of one look for a claim of `alpha_per_look`. The looks share it equally, so that
    /// the probability of a wrong decision over all of them is at most `alpha_per_look` (Bonferroni's inequality).
    #[allow(clippy::cast_precision_loss, reason = "a handful of looks")]
    pub fn alpha_per_look(&self, level: f64) -> f64 {
        level / self.at_repetitions.len().max(1) as f64
    }

    /// Checks that the looks are valid.
    ///
    /// # Errors
    /// Returns a message if there are no looks, if they do not ascend, or if the last exceeds the maximum.
    pub fn check(&self) -> Result<(), &'static str> {
        let ascends = self.at_repetitions.windows(2).all(|two| two[0] < two[1]);
        if ascends && self.first() > 0 && self.last() <= MAX_REPETITIONS {
            return Ok(());
        }
        Err("until_decided.at_repetitions must be ascending numbers of at least 1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_ascend_up_to_all_repetitions_and_share_the_level() {
        assert_eq!(Looks::with_max_repetitions(30).at_repetitions, [10, 15, 20, 30]);
        assert_eq!(Looks::with_max_repetitions(10).at_repetitions, [7, 10]);
        assert_eq!(Looks::with_max_repetitions(5).at_repetitions, [5]);
        assert!((Looks::with_max_repetitions(30).alpha_per_look(0.05) - 0.0125).abs() < 1e-12);
        for most in 1..200 {
            let looks = Looks::with_max_repetitions(most);
            assert_eq!(looks.last(), most);
            assert!(looks.check().is_ok(), "{looks:?}");
        }
    }

    #[test]
    fn stored_looks_that_nobody_asked_for_are_refused() {
        for at_repetitions in [vec![], vec![0, 7], vec![10, 10], vec![10, 7], vec![u32::MAX]] {
            assert!(Looks { at_repetitions }.check().is_err());
        }
    }
}
