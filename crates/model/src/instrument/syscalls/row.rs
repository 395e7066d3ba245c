//! What is told of one system call of one role.

use serde::{Deserialize, Serialize};

use crate::log2_histogram::percentile;

/// One system call of one role, over the phase that counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its name; its number where it has none here.
    pub syscall: String,
    /// Its number; `None` for the row of all those beyond the table.
    pub number: Option<u32>,
    /// How often it was called, and returned.
    pub count: u64,
    /// Bytes it was asked to move: the sum of its length arguments. `None` where it asks for none, and where
    /// one of its calls did not let it be found out.
    pub requested_bytes: Option<u64>,
    /// Bytes it has moved: the sum of what it returned above zero. `None` where what it returns is no
    /// number of bytes.
    pub returned_bytes: Option<u64>,
    /// How often it failed.
    pub errors: u64,
    /// How often it took between [from] and twice as long, ns.
    pub quantised_ns: Vec<(u64, u64)>,
    /// How long it took, ns.
    pub percentiles_ns: Percentiles,
    /// All of its time together, ns.
    pub total_ns: u64,
    /// The shortest call, ns.
    pub least_ns: u64,
    /// How often what it returned, where it did not fail, lay between [from] and twice that.
    pub quantised_returned: Vec<(u64, u64)>,
}

/// How long a call took: percentiles from the distribution, and so good to its powers of two; `max` exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Percentiles {
    /// Half of the calls took no longer, ns.
    pub p50: u64,
    /// 90 % took no longer, ns.
    pub p90: u64,
    /// 99 % took no longer, ns.
    pub p99: u64,
    /// The longest call, ns.
    pub max: u64,
}

impl Percentiles {
    /// Those of calls distributed as `pairs`, the shortest of which took `least` and the longest `max` ns.
    #[must_use]
    pub fn of(pairs: &[(u64, u64)], least: u64, max: u64) -> Self {
        let at = |percent| percentile(pairs, percent).unwrap_or(max).min(max).max(least);
        Self { p50: at(50.0), p90: at(90.0), p99: at(99.0), max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_lie_between_the_shortest_and_the_longest() {
        let percentiles = Percentiles::of(&[(128, 98), (256, 0), (512, 2)], 130, 540);
        assert_eq!(percentiles.p50, 193);
        assert_eq!(percentiles.p99, 540);
        assert_eq!(Percentiles::of(&[(128, 1)], 200, 200).p50, 200);
    }
}
