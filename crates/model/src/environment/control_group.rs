//! Control group of this process and its limits. A limit of a group applies to all groups below it, so the tightest
//! limit on the path to the root counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::amount::Amount;

/// Control group of this process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlGroup {
    /// Version of control groups: `1`, `2` or `hybrid`. `hybrid` means that controllers of both versions are in use.
    pub cgroup_version: Option<String>,
    /// Path of the group that controls the CPU time of this process.
    pub cgroup_path: Option<String>,
    /// Limit on the CPU time of the group, in the format of `cpu.max`.
    pub cgroup_cpu_max: Option<String>,
    /// CPU weight of the group relative to other groups. The default is 100 in version 2 and 1024 in version 1.
    pub cgroup_cpu_weight: Option<u64>,
    /// CPUs that the group may use.
    pub cgroup_cpus: Option<String>,
    /// Memory limit of the group, bytes.
    pub cgroup_memory_max_bytes: Option<Amount>,
    /// Maximum number of tasks in the group.
    pub cgroup_tasks_max: Option<Amount>,
}
