//! Row that describes the scheduling of one role.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::instrument_view::State;

/// Scheduling of one role in the measured phase. Times and counts are sums over its threads. Each thread is counted
/// from the time at which it was first seen. If there is only one thread, the times add up to the interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SchedRow {
    /// Time from the first mark of the role to its second, ns.
    pub interval_ns: u64,
    /// Number of threads seen.
    pub threads: u64,
    /// Number of switches and wake-ups of untracked threads: there is room for 32 threads. No other field includes
    /// these events.
    pub untracked_thread_events: u64,
    /// Number of lost events: switches and wake-ups that must have occurred but that the kernel did not report. After
    /// each lost event, the time up to the next event is attributed to the previous state. Usually zero.
    pub lost_events: u64,
    /// Time on a CPU, ns.
    pub on_cpu_ns: u64,
    /// Time waiting for a CPU, ns.
    pub runnable_ns: u64,
    /// Time waiting for anything else, ns.
    pub asleep_ns: u64,
    /// Sleeps by reason, the longest first.
    pub sleeps: Vec<Sleep>,
    /// Number of times the role gave up its CPU to sleep.
    pub voluntary_switches: u64,
    /// Number of times the role was preempted, or offered its CPU with `sched_yield`.
    pub involuntary_switches: u64,
    /// Number of times the role ran on a different CPU than just before.
    pub migrations: u64,
    /// CPUs that the role ran on, of the first 1,024.
    pub cpus: Vec<u32>,
    /// Number of wake-ups by waker: a role, `other` for another process, or `idle` for an interrupt on an idle CPU.
    /// An interrupt on a busy CPU is attributed to the process that it interrupts.
    pub woken_by: BTreeMap<String, u64>,
    /// Histogram of the time from wake-up to running, over powers of two: lower bound of each row, ns, and its
    /// count.
    pub wakeup_latency_log2_histogram_ns: Vec<(u64, u64)>,
    /// Percentiles of the time from wake-up to running; null if the role was never woken.
    pub wakeup_latency_percentiles_ns: Option<WakeupPercentiles>,
    /// States of the role with their start and end, ns after the first mark of any role. Only the first part of the
    /// phase is stored.
    pub timeline: Vec<(u64, u64, State)>,
}

/// Sleeps with one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sleep {
    /// State in the kernel: `interruptible`, `uninterruptible`, `stopped`, `traced`, `other`.
    pub state: String,
    /// System call in which the role slept; null if none, as in a page fault.
    pub syscall: Option<String>,
    /// Number of sleeps that began.
    pub count: u64,
    /// Total time of the sleeps that ended, ns.
    pub asleep_ns: u64,
}

/// Percentiles, ns, accurate to the width of the histogram rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WakeupPercentiles {
    /// 50th percentile (median).
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
}
