//! What is told of one function and one role.

use serde::{Deserialize, Serialize};

use crate::instrument::syscalls::Percentiles;

/// One function of the kernel as it was called for one role, over the phase that counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its name in this kernel.
    pub function: String,
    /// How often it was called, and returned.
    pub count: u64,
    /// Calls of the thread that makes the marks of which the kernel told the entry or the return alone: they
    /// are in no other figure. Zero as a rule.
    pub missed_calls: u64,
    /// All of its time together, ns: what it called, and what it waited for, is in it. A call inside another
    /// of the same function is in the time of both.
    pub total_ns: u64,
    /// The shortest call, ns; null where none was told.
    pub least_ns: Option<u64>,
    /// How often it took between [from] and twice as long, ns.
    pub quantised_ns: Vec<(u64, u64)>,
    /// How long it took, ns; null where no call was told.
    pub percentiles_ns: Option<Percentiles>,
}
