//! The environment: all topics together, as they stand in the header of results.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::clock::Clock;
use super::confinement::Confinement;
use super::control_group::ControlGroup;
use super::cpus::Cpus;
use super::kernel::Kernel;
use super::kernel_limits::KernelLimits;
use super::load::Load;
use super::memory::Memory;
use super::network::Network;
use super::power::Power;
use super::process_limits::ProcessLimits;
use super::program::Program;
use super::scheduler::Scheduler;
use super::virtualisation::Virtualisation;

/// The machine and its state. What could not be had is null; so is what an older ipcperf did not
/// ask.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Environment {
    #[serde(flatten)]
    pub(crate) program: Program,
    #[serde(flatten)]
    pub(crate) kernel: Kernel,
    #[serde(flatten)]
    pub(crate) cpus: Cpus,
    #[serde(flatten)]
    pub(crate) power: Power,
    #[serde(flatten)]
    pub(crate) virtualisation: Virtualisation,
    #[serde(flatten)]
    pub(crate) clock: Clock,
    #[serde(flatten)]
    pub(crate) memory: Memory,
    #[serde(flatten)]
    pub(crate) load: Load,
    #[serde(flatten)]
    pub(crate) scheduler: Scheduler,
    #[serde(flatten)]
    pub(crate) kernel_limits: KernelLimits,
    #[serde(flatten)]
    pub(crate) network: Network,
    #[serde(flatten)]
    pub(crate) process_limits: ProcessLimits,
    #[serde(flatten)]
    pub(crate) control_group: ControlGroup,
    #[serde(flatten)]
    pub(crate) confinement: Confinement,
}

/// A topic of the environment, for people.
pub(crate) struct Section {
    /// What it is about.
    pub(crate) title: &'static str,
    /// Its keys and what they say.
    pub(crate) fields: BTreeMap<String, Value>,
}

impl Environment {
    /// Reads everything. Costs about a millisecond and a half, and never fails: what cannot be read is
    /// absent.
    pub(crate) fn read() -> Self {
        Self {
            program: Program::read(),
            kernel: Kernel::read(),
            cpus: Cpus::read(),
            power: Power::read(),
            virtualisation: Virtualisation::read(),
            clock: Clock::read(),
            memory: Memory::read(),
            load: Load::read(),
            scheduler: Scheduler::read(),
            kernel_limits: KernelLimits::read(),
            network: Network::read(),
            process_limits: ProcessLimits::read(),
            control_group: ControlGroup::read(),
            confinement: Confinement::read(),
        }
    }

    /// The machine in one line, for the head of tables.
    pub(crate) fn in_one_line(&self) -> String {
        let cpu = self.cpus.cpu_model.as_deref().unwrap_or("unknown CPU");
        let kernel = self.kernel.kernel.as_deref().unwrap_or("unknown kernel");
        let cpus = self.cpus.allowed_cpus.as_deref().unwrap_or("unknown");
        let is_guest = self.virtualisation.hypervisor == Some(true);
        let virtual_machine = if is_guest { ", virtual machine" } else { "" };
        format!("{cpu}, CPUs {cpus}, {kernel}{virtual_machine}")
    }

    /// All fields by topic.
    pub(crate) fn sections(&self) -> Vec<Section> {
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

    /// A topic that is read but not shown would be missed by the documentation too.
    #[test]
    fn the_sections_hold_every_key_once() {
        let environment = Environment::read();
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
    fn an_environment_survives_writing_and_reading() {
        let environment = Environment::read();
        let text = serde_json::to_string(&environment).unwrap();
        assert_eq!(serde_json::from_str::<Environment>(&text).unwrap(), environment);
    }

    /// What an older ipcperf did not ask is absent, not a mistake.
    #[test]
    fn a_few_keys_are_enough() {
        let old = r#"{"version":"0.1.0","architecture":"x86_64","page_bytes":4096,
            "mitigations":[],"clock_step_ns":1,"clock_cost_ns":20}"#;
        let environment: Environment = serde_json::from_str(old).unwrap();
        assert_eq!(environment.memory.page_bytes, 4096);
        assert_eq!(environment.confinement, Confinement::default());
    }
}
