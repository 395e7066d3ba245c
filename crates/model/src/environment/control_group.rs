//! The control group this process is in, and what it is allowed there. A limit of a group holds
//! for all below it, so the tightest on the way up counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::amount::Amount;

/// The control group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlGroup {
    /// Version of control groups: `1`, `2`, or `hybrid` where controllers are of both.
    pub cgroup_version: Option<String>,
    /// The group that shares out CPU time to this process.
    pub cgroup_path: Option<String>,
    /// CPU bandwidth the control group allows, as `cpu.max` has it.
    pub cgroup_cpu_max: Option<String>,
    /// Its weight against others; 100 is usual (1024 in version 1).
    pub cgroup_cpu_weight: Option<u64>,
    /// CPUs it may use.
    pub cgroup_cpus: Option<String>,
    /// Memory it may use.
    pub cgroup_memory_max_bytes: Option<Amount>,
    /// Tasks it may have.
    pub cgroup_tasks_max: Option<Amount>,
}
