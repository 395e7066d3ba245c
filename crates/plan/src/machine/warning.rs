//! Warnings about the environment: message, severity and remedy.

use std::fmt;

use ipcperf_model::units::{bytes as bytes_in_words, percent};
use serde::Serialize;

/// Severity of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Distorts the figures, without an effect on their spread.
    Distorts,
    /// Prevents some measurements, or limits their size.
    Limits,
    /// Matters when figures are compared.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Distorts => "distorts",
            Self::Limits => "limits",
            Self::Note => "note",
        })
    }
}

/// Property of the environment that affects measurements. The message states the property and its effect on the
/// figures.
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Warning {
    /// ipcperf itself was built without optimization.
    #[error("built without optimization: results show the speed of ipcperf, not of the mechanisms")]
    DebugBuild,
    /// Noise detection is off, because `IPCPERF_KEEP_DISTURBED` is set.
    #[error("noise detection is off: disturbed runs are not excluded")]
    NoiseDetectionOff,
    /// Other work keeps the CPUs busy.
    #[error("other processes are running (load {load:.1} on {cpus} CPUs): runs will be disturbed")]
    BusyMachine {
        /// Load average over one minute.
        load: f64,
        /// Number of CPUs.
        cpus: u64,
    },
    /// The host took CPU time from this guest.
    #[error("the host has taken {} of the CPU time since boot (steal time), and may do so again", percent(*share))]
    StealSeen {
        /// Share of the CPU time.
        share: f64,
    },
    /// The control group limits the CPU time of the peers.
    #[error(
        "the control group has a quota of {cpus:.2} CPUs: peers are throttled when the quota is used up"
    )]
    CpuQuota {
        /// Number of CPUs that the quota is worth.
        cpus: f64,
    },
    /// An idle virtual CPU halts at once and wakes slowly.
    #[error(
        "idle virtual CPUs halt at once: between peers on two CPUs, each wake-up takes some 10 to 20 µs longer"
    )]
    HaltsWhenIdle,
    /// The frequency follows the load.
    #[error("frequency governor {governor}: CPUs run slower under low load")]
    GovernorSaves {
        /// Name of the governor.
        governor: String,
    },
    /// The clock is slow to read, because the kernel gave up the CPU's counter.
    #[error(
        "clock source {clock}: reading the clock is slow, because the kernel does not use the CPU's counter"
    )]
    SlowClock {
        /// Clock source in use.
        clock: String,
    },
    /// The CPU's counter changes its rate or stops.
    #[error("the CPU's counter, which times round trips, changes its rate or stops")]
    TicksVary,
    /// Other processes have priority.
    #[error("nice is {nice}: other processes have priority")]
    LowPriority {
        /// Nice value.
        nice: i64,
    },
    /// The scheduling policy is not the usual one.
    #[error("scheduling policy {policy}: peers are not scheduled like most programs")]
    OtherPolicy {
        /// Scheduling policy.
        policy: String,
    },
    /// The kernel moves pages between NUMA nodes while they are in use.
    #[error("the kernel moves pages between NUMA nodes, which causes page faults during runs")]
    PagesMove,
    /// System calls pass a seccomp filter.
    #[error("a seccomp filter makes each system call slower")]
    SeccompFilter,
    /// Only one CPU is allowed.
    #[error("only one CPU is allowed: cases on two CPUs cannot be measured")]
    FewCpus,
    /// Little memory is available.
    #[error("only {} of memory is available: large buffers are refused", bytes_in_words(*bytes))]
    LittleMemory {
        /// Available memory, bytes.
        bytes: u64,
    },
    /// Little space for named shared memory is free.
    #[error("only {} is free in /dev/shm: large named shared memory is refused", bytes_in_words(*bytes))]
    SmallSharedMemory {
        /// Free space, bytes.
        bytes: u64,
    },
    /// The maximum capacity of pipes is small.
    #[error("pipes hold at most {}: a larger capacity is refused", bytes_in_words(*bytes))]
    SmallPipeLimit {
        /// Maximum capacity, bytes.
        bytes: u64,
    },
    /// The maximum size of socket buffers is small.
    #[error("socket buffers hold at most {}: larger datagrams are refused", bytes_in_words(*bytes))]
    SmallSocketBuffers {
        /// Maximum size, bytes.
        bytes: u64,
    },
    /// Little memory may be locked.
    #[error("only {} of memory may be locked: requests for more locked memory are refused", bytes_in_words(*bytes))]
    LowLockedMemory {
        /// Maximum locked memory, bytes.
        bytes: u64,
    },
    /// Events in the kernel cannot be counted or sampled.
    #[error("perf_event_paranoid is {paranoid}: events in the kernel cannot be counted or sampled")]
    NoKernelEvents {
        /// Value of the setting.
        paranoid: i64,
    },
    /// The machine is a guest, whose host may move its CPUs.
    #[error(
        "virtual machine: the distance of two CPUs may change; it is measured before and after a run"
    )]
    VirtualMachine,
    /// The frequency depends on temperature and on the load of other CPUs.
    #[error("boost is on: CPUs run faster when they are cool and other CPUs are idle")]
    Boost,
    /// Two CPUs may be threads of one core.
    #[error("SMT is on: two CPUs may be threads of one core, also with --placement split")]
    SmtActive,
    /// The nice value acts only within the session.
    #[error("autogroup is on: nice {nice} has an effect only on processes of the same session")]
    PriorityIsLocal {
        /// Nice value.
        nice: i64,
    },
    /// Memory was short.
    #[error("{} of memory is swapped out: memory was short", bytes_in_words(*bytes))]
    SwapUsed {
        /// Swap space in use, bytes.
        bytes: u64,
    },
}

impl Warning {
    /// Returns the severity.
    pub const fn severity(&self) -> Severity {
        match self {
            Self::DebugBuild
            | Self::NoiseDetectionOff
            | Self::BusyMachine { .. }
            | Self::StealSeen { .. }
            | Self::CpuQuota { .. }
            | Self::HaltsWhenIdle
            | Self::GovernorSaves { .. }
            | Self::SlowClock { .. }
            | Self::TicksVary
            | Self::LowPriority { .. }
            | Self::OtherPolicy { .. }
            | Self::PagesMove
            | Self::SeccompFilter => Severity::Distorts,
            Self::FewCpus
            | Self::LittleMemory { .. }
            | Self::SmallSharedMemory { .. }
            | Self::SmallPipeLimit { .. }
            | Self::SmallSocketBuffers { .. }
            | Self::LowLockedMemory { .. }
            | Self::NoKernelEvents { .. } => Severity::Limits,
            Self::VirtualMachine
            | Self::Boost
            | Self::SmtActive
            | Self::PriorityIsLocal { .. }
            | Self::SwapUsed { .. } => Severity::Note,
        }
    }

    /// Returns the remedy.
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::DebugBuild => "cargo build --release",
            Self::NoiseDetectionOff => "unset IPCPERF_KEEP_DISTURBED, which only tests should set",
            Self::BusyMachine { .. } => {
                "stop the processes at the top of the list of `top`, and wait a minute"
            }
            Self::StealSeen { .. } => "measure at a quieter time, or on dedicated CPUs",
            Self::CpuQuota { .. } => {
                "write max to cpu.max of the control group, or run docker without --cpus"
            }
            Self::HaltsWhenIdle => {
                "echo 200000 > /sys/module/haltpoll/parameters/guest_halt_poll_ns, or boot with \
                 idle=poll"
            }
            Self::GovernorSaves { .. } => "cpupower frequency-set -g performance",
            Self::SlowClock { .. } => {
                "if the TSC is reliable, boot with clocksource=tsc tsc=reliable"
            }
            Self::TicksVary => "compare bandwidths and mean times, which use another clock",
            Self::LowPriority { .. } => "start ipcperf without nice",
            Self::OtherPolicy { .. } => "chrt --other 0 ipcperf ...",
            Self::PagesMove => "sysctl -w kernel.numa_balancing=0",
            Self::SeccompFilter => "docker run --security-opt seccomp=unconfined",
            Self::FewCpus => "taskset -c 0,1 ipcperf ..., or add a CPU to the machine",
            Self::LittleMemory { .. } => {
                "stop processes that use much memory, or raise memory.max of the control \
                group"
            }
            Self::SmallSharedMemory { .. } => {
                "mount -o remount,size=1G /dev/shm, or docker run --shm-size=1g"
            }
            Self::SmallPipeLimit { .. } => "sysctl -w fs.pipe-max-size=1048576",
            Self::SmallSocketBuffers { .. } => {
                "sysctl -w net.core.wmem_max=4194304 net.core.rmem_max=4194304"
            }
            Self::LowLockedMemory { .. } => "ulimit -l 8192, or LimitMEMLOCK= of the service",
            Self::NoKernelEvents { .. } => {
                "sysctl -w kernel.perf_event_paranoid=1, or sudo ipcperf ..."
            }
            Self::VirtualMachine => "compare only runs of the same cpu_pair_class",
            Self::Boost => "echo 0 > /sys/devices/system/cpu/cpufreq/boost",
            Self::SmtActive => {
                "use --placement llc for two cores, or --placement smt for two threads of one core"
            }
            Self::PriorityIsLocal { .. } => {
                "echo -20 > /proc/self/autogroup in the shell before starting ipcperf"
            }
            Self::SwapUsed { .. } => "swapoff -a && swapon -a",
        }
    }
}
