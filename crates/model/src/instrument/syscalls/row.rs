//! Row that describes one system call of one role.

use serde::{Deserialize, Serialize};

use crate::log2_histogram::percentile;

/// One system call of one role in the measured phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyscallRow {
    /// Name of the call, or its number if the name is unknown.
    pub syscall: String,
    /// Number of the call; `None` for the row that sums up all calls for which the table had no room.
    pub number: Option<u32>,
    /// Number of calls that returned.
    pub count: u64,
    /// Bytes requested: the sum of the length arguments. `None` if the call has no length argument, or if it could
    /// not be read for one of the calls.
    pub requested_bytes: Option<u64>,
    /// Bytes moved: the sum of the positive return values. `None` if the return value is not a number of bytes.
    pub returned_bytes: Option<u64>,
    /// Number of calls that failed.
    pub errors: u64,
    /// Histogram of the times over powers of two: lower bound of each row, ns, and its count.
    pub log2_histogram_ns: Vec<(u64, u64)>,
    /// Percentiles of the time, ns.
    pub percentiles_ns: CallPercentiles,
    /// Total time of the calls, ns.
    pub total_ns: u64,
    /// Time of the shortest call, ns.
    pub min_ns: u64,
    /// Histogram of the return values of successful calls over powers of two: lower bound of each row, and its
    /// count.
    pub log2_histogram_returned: Vec<(u64, u64)>,
}

/// Percentiles of the time of a call. They come from the histogram, so they are accurate to its powers of two;
/// `max` is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallPercentiles {
    /// Median, ns.
    pub p50: u64,
    /// 90th percentile, ns.
    pub p90: u64,
    /// 99th percentile, ns.
    pub p99: u64,
    /// Longest call, ns.
    pub max: u64,
}

impl CallPercentiles {
    /// Computes the percentiles of calls with the histogram `pairs`, the shortest of which took `min` ns and the
    /// longest `max` ns.
    #[must_use]
    pub fn from_histogram(pairs: &[(u64, u64)], min: u64, max: u64) -> Self {
        let at = |percent| percentile(pairs, percent).unwrap_or(max).min(max).max(min);
        Self { p50: at(50.0), p90: at(90.0), p99: at(99.0), max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_lie_between_the_shortest_and_the_longest() {
        let percentiles =
            CallPercentiles::from_histogram(&[(128, 98), (256, 0), (512, 2)], 130, 540);
        assert_eq!(percentiles.p50, 193);
        assert_eq!(percentiles.p99, 540);
        assert_eq!(CallPercentiles::from_histogram(&[(128, 1)], 200, 200).p50, 200);
    }
}
