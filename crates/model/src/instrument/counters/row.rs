//! Rows that describe the counts of one role, and the available counters.

use serde::{Deserialize, Serialize};

use crate::Unavailable;

/// Privilege level at which an event was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PrivilegeLevel {
    /// In user mode: the program and its libraries.
    User,
    /// In the kernel, on behalf of the program.
    Kernel,
    /// At both levels.
    Both,
}

/// Count of one event for one role in the measured phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventCount {
    /// Name of the event as requested.
    pub event: String,
    /// Privilege level at which it was counted.
    pub space: PrivilegeLevel,
    /// Number of events over all threads of the role, extrapolated if the counter ran for part of the time
    /// (multiplexing). ns for `task-clock` and `cpu-clock`. Null if the counter never ran.
    pub count: Option<u64>,
    /// Running share: the share of the role's CPU time in which the counter ran; null if the role had no CPU time.
    pub running_share: Option<f64>,
    /// Number of events counted, without extrapolation; null if the counter could not be read.
    pub raw_count: Option<u64>,
}

/// Events whose counts are times, ns.
const CLOCKS: [&str; 2] = ["task-clock", "cpu-clock"];

impl EventCount {
    /// Whether the count is a time, ns.
    #[must_use]
    pub fn is_time(&self) -> bool {
        CLOCKS.contains(&&*self.event)
    }
}

/// Ratio of two counts of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventRatio {
    /// Name of the ratio: `cycles-per-instruction` ...
    pub ratio: String,
    /// Privilege level at which the events were counted.
    pub space: PrivilegeLevel,
    /// Value of the ratio; null if either event was not counted, or if the divisor is zero.
    pub value: Option<f64>,
}

/// Counters that are available on this machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pmu {
    /// Names that the kernel gives the counters of the processor; empty in most virtual machines.
    pub names: Vec<String>,
    /// Kind of core, for which vendor-specific event names are known.
    pub core: String,
    /// Number of events that can be counted at once, determined by trial; `None` if nothing can be counted.
    pub counters: Option<u64>,
    /// Value of `/proc/sys/kernel/perf_event_paranoid`: from 2 on, only root can count in the kernel.
    pub perf_event_paranoid: Option<i64>,
    /// Events counted by default, with the reason for each that is unavailable.
    pub events: Vec<(String, Result<(), Unavailable>)>,
}

/// Word for an event or for a set of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownEvent {
    /// The word itself.
    pub name: String,
    /// Meaning on this machine.
    pub about: String,
}
