//! The machine as results store it: all topics together.

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
mod virtualisation;

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
pub use virtualisation::Virtualisation;

/// The machine and its state. What could not be had is null; so is what an older ipcperf did not
/// ask.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// What ipcperf was built from, and how.
    #[serde(flatten)]
    pub program: Program,
    /// The kernel.
    #[serde(flatten)]
    pub kernel: Kernel,
    /// The CPUs.
    #[serde(flatten)]
    pub cpus: Cpus,
    /// Frequency and idling.
    #[serde(flatten)]
    pub power: Power,
    /// What is known of a hypervisor.
    #[serde(flatten)]
    pub virtualisation: Virtualisation,
    /// The clock.
    #[serde(flatten)]
    pub clock: Clock,
    /// Memory.
    #[serde(flatten)]
    pub memory: Memory,
    /// What else the machine does.
    #[serde(flatten)]
    pub load: Load,
    /// How this process is scheduled.
    #[serde(flatten)]
    pub scheduler: Scheduler,
    /// The kernel's limits on IPC.
    #[serde(flatten)]
    pub kernel_limits: KernelLimits,
    /// Sockets and the loopback device.
    #[serde(flatten)]
    pub network: Network,
    /// Limits of this process.
    #[serde(flatten)]
    pub process_limits: ProcessLimits,
    /// The control group of this process.
    #[serde(flatten)]
    pub control_group: ControlGroup,
    /// Privileges and confinement.
    #[serde(flatten)]
    pub confinement: Confinement,
}

/// A topic of the environment, for people.
pub struct Section {
    /// What it is about.
    pub title: &'static str,
    /// Its keys and what they say.
    pub fields: BTreeMap<String, Value>,
}

impl Environment {
    /// The machine in one line, for the head of tables.
    pub fn in_one_line(&self) -> String {
        let cpu = self.cpus.cpu_model.as_deref().unwrap_or("unknown CPU");
        let kernel = self.kernel.kernel.as_deref().unwrap_or("unknown kernel");
        let cpus = self.cpus.allowed_cpus.as_deref().unwrap_or("unknown");
        let is_guest = self.virtualisation.hypervisor == Some(true);
        let virtual_machine = if is_guest { ", virtual machine" } else { "" };
        format!("{cpu}, CPUs {cpus}, {kernel}{virtual_machine}")
    }

    /// All fields by topic.
    pub fn sections(&self) -> Vec<Section> {
        vec![
            section("ipcperf", &self.program),
            section("Kernel", &self.kernel),
            section("CPUs", &self.cpus),
            section("Frequency and idling", &self.power),
            section("Virtualisation", &self.virtualisation),
            section("Clock", &self.clock),
            section("Memory", &self.memory),
            section("Load", &self.load),
            section("Scheduler", &self.scheduler),
            section("Limits of the kernel on IPC", &self.kernel_limits),
            section("Sockets and loopback", &self.network),
            section("Limits of this process", &self.process_limits),
            section("Control group", &self.control_group),
            section("Privileges and confinement", &self.confinement),
        ]
    }
}

/// The fields of a topic by key.
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
