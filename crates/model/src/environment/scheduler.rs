//! Settings of the scheduler, and scheduling of this process.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scheduler {
    /// Scheduling group (autogroup) of the session of this process. If autogroups are enabled, the nice value of
    /// a process has an effect only among the processes of the same autogroup.
    pub autogroup: Option<String>,
    /// Whether autogroups are enabled (`kernel.sched_autogroup_enabled`).
    pub autogroup_enabled: Option<bool>,
    /// Nice value of this process: -20 is the highest priority, 19 the lowest.
    pub nice: Option<i64>,
    /// Scheduling policy of this process: `other`, `batch`, `idle`, `fifo`, `round-robin`, ...
    pub scheduling_policy: Option<String>,
    /// Timer slack, ns: time by which the kernel may delay a wake-up of this process.
    pub timer_slack_ns: Option<u64>,
    /// Time that real-time tasks may use in each second, us (`kernel.sched_rt_runtime_us`). -1 means no limit.
    pub sched_rt_runtime_us: Option<i64>,
    /// Base time slice: time for which a task runs before the scheduler switches to another task of the same weight,
    /// ns. Only root can read it.
    pub sched_base_slice_ns: Option<u64>,
    /// Time for which a task counts as cache-hot on a CPU after it has run there, ns. Only root can read it.
    pub sched_migration_cost_ns: Option<u64>,
}
