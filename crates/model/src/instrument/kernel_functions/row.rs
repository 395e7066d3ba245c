//! Row that describes one kernel function of one role.

use serde::{Deserialize, Serialize};

use crate::instrument::syscalls::CallPercentiles;

/// Calls of one kernel function by one role in the measured phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelFunctionRow {
    /// Name of the function in this kernel.
    pub function: String,
    /// Number of calls that returned.
    pub count: u64,
    /// Number of calls for which the kernel reported only the entry or only the return, on the thread that sets the
    /// marks. No other field includes these calls. Usually zero.
    pub lost_calls: u64,
    /// Total time of the calls, ns, including the functions that they call and the time that they wait. A recursive
    /// call counts towards both calls.
    pub total_ns: u64,
    /// Time of the shortest call, ns; null if no call was reported.
    pub min_ns: Option<u64>,
    /// Histogram of the times over powers of two: lower bound of each row, ns, and its count.
    pub log2_histogram_ns: Vec<(u64, u64)>,
    /// Percentiles of the time, ns; null if no call was reported.
    pub percentiles_ns: Option<CallPercentiles>,
}
