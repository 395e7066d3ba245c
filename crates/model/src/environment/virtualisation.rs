//! Who else is on this hardware: the hypervisor below, guests above, and what they take.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Virtual machines, below and above.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Virtualisation {
    /// What virtualisation the CPU reports.
    pub hypervisor: Option<bool>,
    /// How the hypervisor signs itself, such as `KVMKVMKVM`.
    pub hypervisor_signature: Option<String>,
    /// Maker of the machine, as its firmware has it; clouds sign here.
    pub machine_vendor: Option<String>,
    /// Model of the machine, as its firmware has it.
    pub machine_product: Option<String>,
    /// `haltpoll`'s limit: whether an idle virtual CPU halts at once.
    pub guest_halt_poll_ns: Option<u64>,
    /// How long a host waits for an idle guest before it lets the CPU go, where this is a host.
    pub kvm_halt_poll_ns: Option<u64>,
    /// Share of time since the start that the host gave to others while CPUs here were wanted.
    pub steal_share: Option<f64>,
}
