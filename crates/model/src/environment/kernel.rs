//! Kernel: its version and its settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kernel of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kernel {
    /// Operating system and release.
    pub kernel: Option<String>,
    /// Build string of the kernel.
    pub kernel_build: Option<String>,
    /// Machine architecture.
    pub architecture: String,
    /// Preemption model of the kernel: `none`, `voluntary`, `full`, `lazy`, `realtime` or `dynamic`. `dynamic` means
    /// that the model was chosen at boot and that only root can read the choice.
    pub preemption: Option<String>,
    /// Timer interrupts per second on a busy CPU.
    pub kernel_hz: Option<u64>,
    /// Parameters of the kernel command line that affect IPC.
    pub kernel_parameters: Option<Vec<String>>,
    /// CPUs isolated from the scheduler (`isolcpus`).
    pub isolated_cpus: Option<String>,
    /// CPUs that get no timer interrupts while they run only one task (`nohz_full`).
    pub nohz_full_cpus: Option<String>,
    /// Mitigations of CPU vulnerabilities, as `name: state`.
    pub mitigations: Vec<String>,
    /// Identifier of this boot. It changes when the machine is rebooted.
    pub boot_id: Option<String>,
    /// Time since boot, s.
    pub uptime_s: Option<u64>,
}
