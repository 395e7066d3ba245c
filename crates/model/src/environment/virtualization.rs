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
    /// Limit of the `haltpoll` governor, ns: time for which an idle virtual CPU polls before it halts.
    pub guest_halt_poll_ns: Option<u64>,
    /// Time for which a KVM host polls for an idle guest before it yields the CPU, ns; only if this machine is a
    /// host.
    pub kvm_halt_poll_ns: Option<u64>,
    /// Share of the time since boot in which the host ran others while CPUs of this guest were runnable (steal
    /// time).
    pub steal_share: Option<f64>,
}
