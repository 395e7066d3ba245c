//! What a worker answers: a measurement, or a typed failure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::role::Role;

/// What one role used between the two marks around the timed region, from its own `getrusage`
/// ([getrusage(2)](https://man7.org/linux/man-pages/man2/getrusage.2.html)) and its own counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleUsage {
    /// The role these figures belong to.
    pub role: Role,
    /// CPU time in user mode, ns: with `system_ns` it makes `cpu_ns`, which the kernel splits by samples
    /// ([`UserSystemSplit`](crate::worker::UserSystemSplit)).
    pub user_ns: u64,
    /// CPU time in the kernel, ns.
    pub system_ns: u64,
    /// Page faults served without I/O.
    pub minor_faults: u64,
    /// Times the role gave up its CPU to wait.
    pub voluntary_switches: u64,
    /// Times the role was pushed off its CPU.
    pub involuntary_switches: u64,
    /// System calls the role made to move data; `None` where a library or a daemon makes them, which
    /// does not tell.
    pub calls: Option<u64>,
    /// Write calls that took less than they were given.
    pub short_writes: u64,
    /// Read calls that returned less than was asked.
    pub short_reads: u64,
    /// CPU time by the thread's own clock, ns: exact; `None` where the kernel keeps no `schedstat`
    /// (`broker`, and programs of one's own).
    pub cpu_ns: Option<u64>,
    /// Time runnable but not running, ns (`/proc/PID/schedstat`); `None` where not kept.
    pub run_delay_ns: Option<u64>,
}

/// The distribution of round trips in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundTrips {
    /// Every how many trips one was timed on its own; 1 times each.
    pub timed_every: u64,
    /// HDR histogram of the timed trips in ns, V2 encoding, base64.
    pub histogram: String,
    /// Median of the timed trips, ns.
    pub p50_ns: u64,
    /// 90th percentile, ns.
    pub p90_ns: u64,
    /// 99th percentile, ns.
    pub p99_ns: u64,
    /// 99.9th percentile, ns.
    pub p999_ns: u64,
    /// Longest timed trip, ns.
    pub max_ns: u64,
    /// Elapsed time over all trips, timed on their own or not, ns.
    pub mean_ns: f64,
}

/// One of several phases that counted in one pair of parties.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repeat {
    /// From just before the first byte was sent to just after the last was received, ns.
    pub elapsed_ns: u64,
    /// Messages (or round trips) that arrived.
    pub messages: u64,
    /// One entry for each role.
    pub roles: Vec<RoleUsage>,
}

/// What a run that went well yields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// When the first byte was about to be sent, ns on `CLOCK_MONOTONIC`.
    pub began_ns: u64,
    /// From just before the first byte was sent to just after the last was received, ns.
    pub elapsed_ns: u64,
    /// Payload one way that was asked of this run, bytes.
    pub total_bytes: u64,
    /// Messages (or round trips) that arrived.
    pub messages: u64,
    /// Payload bytes that arrived, one way.
    pub arrived_bytes: u64,
    /// Messages sent that never arrived, where the mechanism may lose them.
    pub lost_messages: Option<u64>,
    /// Phases run before this one to find the total; 0 where it was given.
    pub calibration_phases: u32,
    /// How long each slice took that was asked for before the run, ns; all move the same.
    pub slices_ns: Vec<u64>,
    /// CPU time of the kernel's own threads that work for the mechanism, on the CPUs of the run, ns;
    /// `None` where there are none or they cannot be seen.
    pub kernel_thread_ns: Option<u64>,
    /// The distribution, for round trips.
    pub round_trips: Option<RoundTrips>,
    /// What the kernel granted, bytes; `None` where the mechanism has no such buffer.
    pub kernel_buffer_granted_bytes: Option<u64>,
    /// Cache line there and back before and after the run, ns; for parties pinned apart.
    pub cacheline_round_trip_ns: Option<[f64; 2]>,
    /// Time stolen by the host on the run's CPUs, ns (the kernel counts it in ticks).
    pub steal_ns: Option<u64>,
    /// One entry for each role.
    pub roles: Vec<RoleUsage>,
    /// What the parties found of their kernel objects, where they were to look.
    pub objects: Vec<KernelObject>,
    /// For each party, the sender first, what the dials that it was handed said.
    pub dials: Vec<Vec<DialReading>>,
    /// Every phase that counted, where several were asked for; all else is of the last of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<Repeat>,
}

/// The one JSON object a worker prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Report {
    /// The run went well.
    Measured(Box<Measurement>),
    /// The run failed.
    Failed(Failure),
}

/// What a dial said, as words: before and after the phase that counted. Empty where it said nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DialReading {
    /// Just before it.
    pub before: Vec<u64>,
    /// Just after it.
    pub after: Vec<u64>,
}

/// A limit of a kernel object, as a party found it before its first phase and after its last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelObject {
    /// Whose it is; `None` where the parties are of one process.
    pub role: Option<Role>,
    /// Its number: of a descriptor, or of a queue.
    pub number: i64,
    /// What it is: `pipe`, `unix stream socket`, `message queue` ...
    pub object: String,
    /// Which of its limits: `capacity`, `send buffer`, `receive buffer`, `size`.
    pub limit: String,
    /// What was asked of the kernel, bytes; `None` leaves its default.
    pub asked_bytes: Option<u64>,
    /// What it granted, bytes; `None` where the object came to be later.
    pub before_bytes: Option<u64>,
    /// What that has become at the end, bytes; `None` where the object is gone.
    pub after_bytes: Option<u64>,
}

/// Where the user and system time of a run's roles come from. Their sum is exact in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UserSystemSplit {
    /// Estimated from the kernel's ticks: of a short run, all may be counted as one of the two.
    Sampled,
    /// Measured at each entry into the kernel, as on CPUs that are isolated with `nohz_full`.
    Measured,
}
