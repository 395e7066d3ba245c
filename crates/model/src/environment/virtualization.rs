//! Virtualization: the hypervisor below, guests above, and the CPU time that they take.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Virtualization, as a guest and as a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Virtualization {
    /// Whether the CPU reports a hypervisor.
    pub hypervisor: Option<bool>,
    /// Signature of the hypervisor, such as `KVMKVMKVM`.
    pub hypervisor_signature: Option<String>,
    /// Vendor of the machine according to its firmware; cloud providers identify themselves here.
    pub machine_vendor: Option<String>,
    /// Model of the machine according to its firmware.
    pub machine_product: Option<String>,
    /// Maximum time for which an idle virtual CPU polls before it halts, ns (`haltpoll` governor).
    pub guest_halt_poll_ns: Option<u64>,
    /// On a KVM host: maximum time for which KVM polls after a virtual CPU has halted, before it gives the CPU to
    /// other tasks, ns.
    pub kvm_halt_poll_ns: Option<u64>,
    /// Steal time as a share of the time since boot. Steal time is time in which a CPU of this guest was runnable, but
    /// the host ran something else.
    pub steal_share: Option<f64>,
}
