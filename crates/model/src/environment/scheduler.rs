//! How the scheduler shares CPUs out, and how it treats this process.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The scheduler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scheduler {
    /// Scheduling groups by session: on, they make nice local to one.
    pub autogroup: Option<String>,
    /// Whether there are such groups (`kernel.sched_autogroup_enabled`).
    pub autogroup_enabled: Option<bool>,
    /// How this process yields to others: -20 never, 19 always.
    pub nice: Option<i64>,
    /// The policy it is scheduled by: `other`, `batch`, `idle`, `fifo`, `round-robin`, ...
    pub scheduling_policy: Option<String>,
    /// By how much the kernel may let this process oversleep.
    pub timer_slack_ns: Option<u64>,
    /// What real-time tasks may take of each second (`kernel.sched_rt_runtime_us`); -1 is all.
    pub sched_rt_runtime_us: Option<i64>,
    /// What a task runs before another of the same weight; root alone may see it.
    pub sched_base_slice_ns: Option<u64>,
    /// How long a task counts as warm where it ran; root alone may see it.
    pub sched_migration_cost_ns: Option<u64>,
}
