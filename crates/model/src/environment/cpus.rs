//! The CPUs: which there are, what they share, and which of them may be used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The CPUs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpus {
    /// The CPU's own name; on Arm, where it has none, its number.
    pub cpu_model: Option<String>,
    /// Its maker.
    pub cpu_vendor: Option<String>,
    /// Family, model and stepping, with slashes between; on Arm, architecture, part and revision.
    pub cpu_signature: Option<String>,
    /// Version of its microcode; a hypervisor may hide it.
    pub cpu_microcode: Option<String>,
    /// Its features that bear on clocks, copying, waiting and virtual machines.
    pub cpu_flags: Option<Vec<String>>,
    /// The CPUs this process may use.
    pub allowed_cpus: Option<String>,
    /// The CPUs that run.
    pub online_cpus: Option<String>,
    /// The CPUs there could be.
    pub possible_cpus: Option<String>,
    /// Packages the CPUs are in.
    pub cpu_sockets: Option<u64>,
    /// Cores; a core may run several threads.
    pub cpu_cores: Option<u64>,
    /// Hardware threads: what the system calls CPUs.
    pub cpu_threads: Option<u64>,
    /// Whether cores run several threads now.
    pub smt_active: Option<bool>,
    /// Whether they may: `on`, `off`, `forceoff`, `notsupported`, `notimplemented`.
    pub smt_control: Option<String>,
    /// Memory nodes.
    pub numa_nodes: Option<u64>,
    /// First-level data cache of the first CPU.
    pub cache_l1d_bytes: Option<u64>,
    /// First-level instruction cache of the first CPU.
    pub cache_l1i_bytes: Option<u64>,
    /// Second-level cache of the first CPU.
    pub cache_l2_bytes: Option<u64>,
    /// Third-level cache of the first CPU.
    pub cache_l3_bytes: Option<u64>,
    /// A line of its caches: what moves between CPUs at once.
    pub cache_line_bytes: Option<u64>,
    /// CPUs that share the last-level cache of the first CPU.
    pub last_level_cache_cpus: Option<String>,
}
