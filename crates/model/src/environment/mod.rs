//! Environment of the machine as results store it, composed of one struct for each topic.

mod amount;
mod clock;
mod confinement;
mod control_group;
mod cpus;
mod kernel;
mod kernel_limits;
mod load;
mod memory;
mod network;
mod power;
mod process_limits;
mod program;
mod scheduler;
mod virtualization;

use std::collections::BTreeMap;

pub use amount::{Amount, Unlimited};
pub use clock::Clock;
pub use confinement::Confinement;
pub use control_group::ControlGroup;
pub use cpus::Cpus;
pub use kernel::Kernel;
pub use kernel_limits::KernelLimits;
pub use load::Load;
pub use memory::Memory;
pub use network::Network;
pub use power::Power;
pub use process_limits::ProcessLimits;
pub use program::Program;
pub use scheduler::Scheduler;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use virtualization::Virtualization;

/// Environment: the machine and its state. A value that could not be determined is null, and so is one that an
/// older ipcperf did not record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Build of ipcperf.
    #[serde(flatten)]
    pub program: Program,
    /// Kernel of the machine.
    #[serde(flatten)]
    pub kernel: Kernel,
    /// CPUs of the machine.
    #[serde(flatten)]
    pub cpus: Cpus,
    /// Frequency and idle states of the CPUs.
    #[serde(flatten)]
    pub power: Power,
    /// Virtualization of the machine.
    #[serde(flatten)]
    pub virtualization: Virtualization,
    /// Clock of the kernel.
    #[serde(flatten)]
    pub clock: Clock,
    /// Memory of the machine.
    #[serde(flatten)]
    pub memory: Memory,
    /// Load by other activity.
    #[serde(flatten)]
    pub load: Load,
    /// Scheduling of this process.
    #[serde(flatten)]
    pub scheduler: Scheduler,
    /// Limits of the kernel on IPC.
    #[serde(flatten)]
    pub kernel_limits: KernelLimits,
    /// Sockets and loopback interface.
    #[serde(flatten)]
    pub network: Network,
    /// Resource limits of this process.
    #[serde(flatten)]
    pub process_limits: ProcessLimits,
    /// Control group of this process.
    #[serde(flatten)]
    pub control_group: ControlGroup,
    /// Privileges and confinement of this process.
    #[serde(flatten)]
    pub confinement: Confinement,
}

/// Topic of the environment, for display.
pub struct Section {
    /// Title of the topic.
    pub title: &'static str,
    /// Keys of the topic with their values.
    pub fields: BTreeMap<String, Value>,
}

impl Environment {
    /// Describes the machine in one line, for the head of tables.
    pub fn summary_line(&self) -> String {
        let cpu = self.cpus.cpu_model.as_deref().unwrap_or("unknown CPU");
        let kernel = self.kernel.kernel.as_deref().unwrap_or("unknown kernel");
        let cpus = self.cpus.allowed_cpus.as_deref().unwrap_or("unknown");
        let is_guest = self.virtualization.hypervisor == Some(true);
        let virtual_machine = if is_guest { ", virtual machine" } else { "" };
        format!("{cpu}, CPUs {cpus}, {kernel}{virtual_machine}")
    }

    /// Returns all fields by topic.
    pub fn sections(&self) -> Vec<Section> {
        vec![
            section("ipcperf", &self.program),
            section("Kernel", &self.kernel),
            section("CPUs", &self.cpus),
            section("Frequency and idle states", &self.power),
            section("Virtualization", &self.virtualization),
            section("Clock", &self.clock),
            section("Memory", &self.memory),
            section("Load", &self.load),
            section("Scheduler", &self.scheduler),
            section("Kernel limits on IPC", &self.kernel_limits),
            section("Sockets and loopback", &self.network),
            section("Process limits", &self.process_limits),
            section("Control group", &self.control_group),
            section("Privileges and confinement", &self.confinement),
        ]
    }
}

/// Returns the fields of a topic by key.
fn section(title: &'static str, topic: &impl Serialize) -> Section {
    let fields = match serde_json::to_value(topic) {
        Ok(Value::Object(fields)) => fields.into_iter().collect(),
        _ => BTreeMap::new(),
    };
    Section { title, fields }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sections_hold_every_key_once() {
        let environment = Environment::default();
        let Ok(Value::Object(flat)) = serde_json::to_value(&environment) else {
            panic!("no object");
        };
        let mut keys: Vec<String> = Vec::new();
        for section in environment.sections() {
            keys.extend(section.fields.into_keys());
        }
        let mut flat: Vec<String> = flat.into_iter().map(|(key, _)| key).collect();
        keys.sort();
        flat.sort();
        assert_eq!(keys, flat);
        assert!(keys.len() >= 60, "{}", keys.len());
    }

    #[test]
    fn a_few_keys_are_enough() {
        let old = r#"{"version":"0.1.0","architecture":"x86_64","page_bytes":4096,
            "mitigations":[],"clock_step_ns":1,"clock_cost_ns":20}"#;
        let environment: Environment = serde_json::from_str(old).unwrap();
        assert_eq!(environment.memory.page_bytes, 4096);
        assert_eq!(environment.confinement, Confinement::default());
    }
}
