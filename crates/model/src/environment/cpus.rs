//! CPUs: their number and topology, and which of them may be used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// CPUs of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpus {
    /// Model name of the CPU. Arm CPUs have no model name; for them, the value is the part number.
    pub cpu_model: Option<String>,
    /// Vendor of the CPU.
    pub cpu_vendor: Option<String>,
    /// Family, model and stepping of the CPU, separated by slashes. On Arm: architecture, part and revision.
    pub cpu_signature: Option<String>,
    /// Microcode version; a hypervisor may hide it.
    pub cpu_microcode: Option<String>,
    /// CPU features that affect clocks, copying, waiting and virtual machines.
    pub cpu_flags: Option<Vec<String>>,
    /// CPUs that this process may use.
    pub allowed_cpus: Option<String>,
    /// CPUs that are online.
    pub online_cpus: Option<String>,
    /// CPUs that could be brought online, including those that are not present.
    pub possible_cpus: Option<String>,
    /// Number of CPU packages (sockets).
    pub cpu_sockets: Option<u64>,
    /// Number of cores. A core may have several hardware threads.
    pub cpu_cores: Option<u64>,
    /// Number of hardware threads. Linux counts each hardware thread as a CPU.
    pub cpu_threads: Option<u64>,
    /// Whether simultaneous multithreading (SMT) is active, so that a core runs several hardware threads.
    pub smt_active: Option<bool>,
    /// Setting of simultaneous multithreading (SMT): `on`, `off`, `forceoff`, `notsupported`, `notimplemented`.
    pub smt_control: Option<String>,
    /// Number of NUMA nodes.
    pub numa_nodes: Option<u64>,
    /// Size of the first-level data cache of the first CPU, bytes.
    pub cache_l1d_bytes: Option<u64>,
    /// Size of the first-level instruction cache of the first CPU, bytes.
    pub cache_l1i_bytes: Option<u64>,
    /// Size of the second-level cache of the first CPU, bytes.
    pub cache_l2_bytes: Option<u64>,
    /// Size of the third-level cache of the first CPU, bytes.
    pub cache_l3_bytes: Option<u64>,
    /// Size of a cache line, bytes. Data moves between CPUs in this unit.
    pub cache_line_bytes: Option<u64>,
    /// CPUs that share the last-level cache of the first CPU.
    pub last_level_cache_cpus: Option<String>,
}
