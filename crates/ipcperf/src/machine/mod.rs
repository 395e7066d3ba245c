//! The machine: what results must say of where they were made.

use std::fs;

use ipcperf_engine::clock;
use ipcperf_engine::placement::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine and its state. What could not be had is null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Environment {
    /// Version of ipcperf.
    pub(crate) version: String,
    /// Commit it was built from; ends in `+` where there were changes.
    pub(crate) commit: Option<String>,
    /// Operating system and release.
    pub(crate) kernel: Option<String>,
    /// Build of the kernel.
    pub(crate) kernel_build: Option<String>,
    /// Architecture.
    pub(crate) architecture: String,
    /// The CPU's own name.
    pub(crate) cpu_model: Option<String>,
    /// The CPUs this process may use.
    pub(crate) allowed_cpus: Option<String>,
    /// Memory.
    pub(crate) memory_bytes: Option<u64>,
    /// Size of a page.
    pub(crate) page_bytes: u64,
    /// The frequency governor of the first CPU.
    pub(crate) governor: Option<String>,
    /// Mitigations of CPU vulnerabilities, as `name: state`.
    pub(crate) mitigations: Vec<String>,
    /// What virtualisation the CPU reports.
    pub(crate) hypervisor: Option<bool>,
    /// `haltpoll`'s limit: whether an idle virtual CPU halts at once.
    pub(crate) guest_halt_poll_ns: Option<u64>,
    /// Where the kernel takes its time from.
    pub(crate) clock_source: Option<String>,
    /// Smallest step of the monotonic clock.
    pub(crate) clock_step_ns: u64,
    /// Cost of reading it.
    pub(crate) clock_cost_ns: u64,
    /// Scheduling groups by session: on, they make nice local to one.
    pub(crate) autogroup: Option<String>,
    /// CPU bandwidth the control group allows, as `cpu.max` has it.
    pub(crate) cgroup_cpu_max: Option<String>,
    /// Transparent huge pages.
    pub(crate) transparent_hugepage: Option<String>,
    /// What a pipe may be set to without privilege.
    pub(crate) pipe_max_size_bytes: Option<u64>,
    /// Default send buffer of sockets.
    pub(crate) wmem_default_bytes: Option<u64>,
    /// Largest send buffer of sockets.
    pub(crate) wmem_max_bytes: Option<u64>,
    /// Default receive buffer of sockets.
    pub(crate) rmem_default_bytes: Option<u64>,
    /// Datagrams that may wait in the queue of a Unix domain socket.
    pub(crate) unix_max_dgram_qlen: Option<u64>,
}

impl Environment {
    /// Reads everything. Costs about a millisecond.
    pub(crate) fn read() -> Self {
        let clock = clock::measure();
        let uname = rustix::system::uname();
        let text = |text: &std::ffi::CStr| text.to_str().ok().map(str::to_owned);
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: option_env!("IPCPERF_COMMIT").map(str::to_owned),
            kernel: text(uname.sysname())
                .zip(text(uname.release()))
                .map(|(s, r)| format!("{s} {r}")),
            kernel_build: text(uname.version()),
            architecture: std::env::consts::ARCH.to_owned(),
            cpu_model: cpuinfo("model name"),
            allowed_cpus: Topology::read().ok().map(|topology| topology.allowed()),
            memory_bytes: meminfo_bytes("MemTotal"),
            page_bytes: rustix::param::page_size() as u64,
            governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            mitigations: mitigations(),
            hypervisor: cpuinfo("flags").map(|flags| flags.split(' ').any(|f| f == "hypervisor")),
            guest_halt_poll_ns: number("/sys/module/haltpoll/parameters/guest_halt_poll_ns"),
            clock_source: line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            clock_step_ns: clock.step_ns,
            clock_cost_ns: clock.cost_ns,
            autogroup: line("/proc/self/autogroup"),
            cgroup_cpu_max: line("/sys/fs/cgroup/cpu.max"),
            transparent_hugepage: line("/sys/kernel/mm/transparent_hugepage/enabled"),
            pipe_max_size_bytes: number("/proc/sys/fs/pipe-max-size"),
            wmem_default_bytes: number("/proc/sys/net/core/wmem_default"),
            wmem_max_bytes: number("/proc/sys/net/core/wmem_max"),
            rmem_default_bytes: number("/proc/sys/net/core/rmem_default"),
            unix_max_dgram_qlen: number("/proc/sys/net/unix/max_dgram_qlen"),
        }
    }

    /// The machine in one line, for the head of tables.
    pub(crate) fn in_one_line(&self) -> String {
        let cpu = self.cpu_model.as_deref().unwrap_or("unknown CPU");
        let kernel = self.kernel.as_deref().unwrap_or("unknown kernel");
        let cpus = self.allowed_cpus.as_deref().unwrap_or("unknown");
        let virtual_machine = if self.hypervisor == Some(true) { ", virtual machine" } else { "" };
        format!("{cpu}, CPUs {cpus}, {kernel}{virtual_machine}")
    }
}

/// Memory that could be had without swapping, bytes.
pub(crate) fn available_memory_bytes() -> Option<u64> {
    meminfo_bytes("MemAvailable")
}

fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

fn number(path: &str) -> Option<u64> {
    line(path)?.parse().ok()
}

fn cpuinfo(key: &str) -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_owned())
}

fn meminfo_bytes(key: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = pairs.find(|(name, _)| *name == key)?;
    let kib: u64 = value.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

fn mitigations() -> Vec<String> {
    let Ok(entries) = fs::read_dir("/sys/devices/system/cpu/vulnerabilities") else {
        return Vec::new();
    };
    let mut states: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let state = fs::read_to_string(entry.path()).ok()?;
            Some(format!("{name}: {}", state.trim()))
        })
        .collect();
    states.sort();
    states
}
