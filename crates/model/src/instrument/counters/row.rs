//! What is told of one role, and of the counters that there are.

use serde::{Deserialize, Serialize};

use crate::Unavailable;

/// Where something was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// In the program and its libraries.
    User,
    /// In the kernel, on the program's behalf.
    Kernel,
    /// In both.
    Both,
}

/// How often one event was counted of one role in the phase that counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Count {
    /// The event, as it was asked for.
    pub event: String,
    /// Where.
    pub space: Space,
    /// How often it came to pass, over all threads of the role; extrapolated where it was not counted all
    /// the time. ns for `task-clock` and `cpu-clock`. Null where it was never counted.
    pub count: Option<u64>,
    /// The share of the role's time on a CPU in which it was counted; null where the role had none.
    pub counted_share: Option<f64>,
    /// How often it was counted; null where it could not be read.
    pub raw_count: Option<u64>,
}

/// Counts of one run by one another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// What it is called: `cycles-per-instruction` ...
    pub ratio: String,
    /// Where.
    pub space: Space,
    /// Null where either was not counted, or the divisor never came to pass.
    pub value: Option<f64>,
}

/// What there is to count with here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pmu {
    /// The counters of the processor as the kernel names them; none in most virtual machines.
    pub names: Vec<String>,
    /// The kind of core for which names of vendors are known.
    pub core: String,
    /// How many events it counts at once, found out by trying; `None` where it counts nothing.
    pub counters: Option<u64>,
    /// `/proc/sys/kernel/perf_event_paranoid`: from 2 on, a user who is not root cannot count in the kernel.
    pub paranoid: Option<i64>,
    /// What is counted where nothing is asked for, and why not.
    pub events: Vec<(String, Result<(), Unavailable>)>,
}

/// A word for an event, or for a set of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The word.
    pub name: String,
    /// What it is here.
    pub about: String,
}
