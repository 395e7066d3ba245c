//! Limit on the retries of disturbed runs.

use crate::Plan;

/// Number of retries that even a short plan allows.
const MIN_RETRIES: u64 = 10;

impl Plan {
    /// Returns the maximum number of retries: half of the planned runs, or 10 if that is more, but never more than the
    /// attempts of all repetitions allow. The limit keeps a machine that is never quiet from running for ever. Runs of
    /// the first block are not retried.
    pub fn max_retries(&self) -> u64 {
        let repetitions = self.cases.len() as u64 * u64::from(self.blocks().saturating_sub(1));
        let allowed = repetitions.saturating_mul(u64::from(self.attempts.saturating_sub(1)));
        (self.runs() / 2).max(MIN_RETRIES).min(allowed)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::StoppingRule;
    use crate::testing::case;

    fn plan(cases: usize, repetitions: u32, attempts: u32) -> Plan {
        Plan {
            cases: (0..cases).map(|number| case(&number.to_string())).collect(),
            knee: None,
            refused: Vec::new(),
            unavailable: Vec::new(),
            unavailable_instruments: Vec::new(),
            stopping_rule: StoppingRule::Repetitions(repetitions),
            attempts,
            seed: 1,
            timeout: Duration::from_secs(10),
        }
    }

    #[test]
    fn half_of_the_runs_are_retried_but_ten_are_allowed() {
        assert_eq!(plan(10, 9, 3).max_retries(), 50);
        assert_eq!(plan(1, 7, 3).max_retries(), 10);
    }

    #[test]
    fn attempts_limit_the_retries() {
        assert_eq!(plan(1, 2, 3).max_retries(), 4);
        assert_eq!(plan(10, 9, 1).max_retries(), 0);
        assert_eq!(plan(0, 9, 3).max_retries(), 0);
    }
}
