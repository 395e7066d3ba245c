//! The kernel: which it is, and how it was told to behave.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kernel {
    /// Operating system and release.
    pub kernel: Option<String>,
    /// Build of the kernel.
    pub kernel_build: Option<String>,
    /// Architecture.
    pub architecture: String,
    /// Where the kernel may be preempted: `none`, `voluntary`, `full`, `lazy`, `realtime`, or
    /// `dynamic` where it is chosen at boot and only root may see what was.
    pub preemption: Option<String>,
    /// Timer interrupts a second on a busy CPU.
    pub kernel_hz: Option<u64>,
    /// Parameters of the kernel's command line that bear on IPC.
    pub kernel_parameters: Option<Vec<String>>,
    /// CPUs kept out of the scheduler's reach (`isolcpus`).
    pub isolated_cpus: Option<String>,
    /// CPUs without timer interrupts while one task runs (`nohz_full`).
    pub nohz_full_cpus: Option<String>,
    /// Mitigations of CPU vulnerabilities, as `name: state`.
    pub mitigations: Vec<String>,
    /// Names this boot: another one means the machine was started anew.
    pub boot_id: Option<String>,
    /// Time since the start of the machine.
    pub uptime_s: Option<u64>,
}
