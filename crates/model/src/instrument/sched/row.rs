//! What is told of one role.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::instrument_view::State;

/// What the scheduler did with one role in the phase that counted. Times and counts are sums over its
/// threads, each from the time it was first seen; where there is one, the times add up to the interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// From the role's first mark to its second, ns.
    pub interval_ns: u64,
    /// Threads that were seen.
    pub threads: u64,
    /// Switches and wake-ups of further threads, which are in no other figure: there is room for 32.
    pub untold_events: u64,
    /// Switches and wake-ups that the kernel did not tell of, though there must have been one: after each,
    /// time up to the next event is put down to what went before it. Zero as a rule.
    pub missed_events: u64,
    /// Time with a CPU, ns.
    pub on_cpu_ns: u64,
    /// Time spent waiting for a CPU, ns.
    pub runnable_ns: u64,
    /// Time spent waiting for something else, ns.
    pub asleep_ns: u64,
    /// Its sleeps by reason, the longest first.
    pub sleeps: Vec<Sleep>,
    /// Times it gave its CPU away to sleep.
    pub voluntary_switches: u64,
    /// Times its CPU was taken away, or offered by `sched_yield`.
    pub involuntary_switches: u64,
    /// Times it ran on another CPU than just before.
    pub migrations: u64,
    /// CPUs it ran on, of the first 1,024.
    pub cpus: Vec<u32>,
    /// How often it was woken, by whom: a role, `other` for another process, `idle` for an interrupt on an
    /// idle CPU. An interrupt elsewhere counts for whom it interrupts.
    pub woken_by: BTreeMap<String, u64>,
    /// Time from being woken to having a CPU: the least value of each row, and how often one fell into it.
    pub wakeup_latency_quantised_ns: Vec<(u64, u64)>,
    /// The same as percentiles; null where it was never woken.
    pub wakeup_latency_percentiles_ns: Option<Percentiles>,
    /// What it was at, from when to when after the first mark of any role, ns; only the beginning is kept.
    pub timeline: Vec<(u64, u64, State)>,
}

/// Sleeps of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sleep {
    /// The kernel's state: `interruptible`, `uninterruptible`, `stopped`, `traced`, `other`.
    pub state: String,
    /// The system call it slept in; null where it was none, as in a page fault.
    pub syscall: Option<String>,
    /// How many began.
    pub count: u64,
    /// How long those took that ended, ns.
    pub asleep_ns: u64,
}

/// Below which value so many of a hundred lie, ns, as exact as the rows of a distribution are narrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Percentiles {
    /// The median.
    pub p50: u64,
    /// 90 of a hundred.
    pub p90: u64,
    /// 99 of a hundred.
    pub p99: u64,
}
