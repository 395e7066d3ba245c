//! Time budget of a measurement. The survey has one, so that it ends in time however disturbed the machine is.

use std::time::{Duration, Instant};

/// Time at which a measurement ends, and with it when disturbed runs are retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeBudget {
    /// No limit: a disturbed run is retried at once, close to the runs of its block with which it is compared.
    Unlimited,
    /// Ends at this time. Retries are deferred until all blocks are done: other virtual machines take CPU time in
    /// episodes of 10 to 30 s, and attempts in a row would all lie within one.
    Until(Instant),
}

impl TimeBudget {
    /// Returns a budget that ends after `time` from now.
    pub(crate) fn from_now(time: Duration) -> Self {
        Self::Until(Instant::now() + time)
    }

    /// Whether no run may start any more.
    pub(super) fn is_used_up(self) -> bool {
        matches!(self, Self::Until(end) if Instant::now() >= end)
    }

    /// Whether disturbed runs are retried after all blocks instead of at once.
    pub(super) const fn defers_retries(self) -> bool {
        matches!(self, Self::Until(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_limited_budget_is_used_up_and_defers_retries() {
        assert!(!TimeBudget::Unlimited.is_used_up() && !TimeBudget::Unlimited.defers_retries());
        assert!(TimeBudget::from_now(Duration::ZERO).is_used_up());
        let hour = TimeBudget::from_now(Duration::from_secs(3_600));
        assert!(!hour.is_used_up() && hour.defers_retries());
    }
}
