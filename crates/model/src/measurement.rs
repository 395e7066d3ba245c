//! Answer of a worker: a measurement or a typed failure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::role::Role;
use crate::slow_message::SlowMessage;

/// Resource usage of one role between the two marks around the timed region, from its own `getrusage`
/// ([getrusage(2)](https://man7.org/linux/man-pages/man2/getrusage.2.html)) and its own counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleUsage {
    /// Role that used the resources.
    pub role: Role,
    /// CPU time in user mode, ns. Its sum with `system_ns` is `cpu_ns`; the kernel splits that sum by sampling
    /// ([`UserSystemSplit`]).
    pub user_ns: u64,
    /// CPU time in the kernel, ns.
    pub system_ns: u64,
    /// Page faults served without I/O.
    pub minor_faults: u64,
    /// Number of times the role gave up its CPU to wait.
    pub voluntary_switches: u64,
    /// Number of times the role was preempted.
    pub involuntary_switches: u64,
    /// Number of system calls the role made to move data; `None` where a library or a daemon makes them and does
    /// not report how many.
    pub calls: Option<u64>,
    /// Number of write calls that accepted fewer bytes than requested.
    pub short_writes: u64,
    /// Number of read calls that returned fewer bytes than requested.
    pub short_reads: u64,
    /// CPU time from the clock of the thread, ns: exact. For the `broker` and custom mechanisms it comes from
    /// `schedstat`, and is `None` if the kernel does not keep that.
    pub cpu_ns: Option<u64>,
    /// Time runnable but not running, ns (`/proc/PID/schedstat`); `None` if the kernel does not account it.
    pub run_delay_ns: Option<u64>,
}

/// Distribution of the round trips of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundTrips {
    /// Sampling interval: one in this many trips was timed individually; 1 means every trip.
    pub timed_every: u64,
    /// Times of the timed trips. Their mean is that over all trips, whether timed individually or not.
    pub latencies: Latencies,
}

/// Distribution of latencies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    /// HDR histogram in ns, V2 encoding, base64.
    pub histogram: String,
    /// Median, ns. In a paced run it is null, like each percentile below, if fewer than ten messages were slower.
    pub p50_ns: Option<u64>,
    /// 90th percentile, ns.
    pub p90_ns: Option<u64>,
    /// 99th percentile, ns.
    pub p99_ns: Option<u64>,
    /// 99.9th percentile, ns.
    pub p999_ns: Option<u64>,
    /// Longest latency, ns.
    pub max_ns: u64,
    /// Mean latency, ns.
    pub mean_ns: f64,
}

/// Delays with which messages of one class were sent, after they were due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendDelays {
    /// Number of messages in the class.
    pub messages: u64,
    /// Median delay, ns; null, like the percentiles below, if fewer than ten messages were later.
    pub p50_ns: Option<u64>,
    /// 95th percentile, ns.
    pub p95_ns: Option<u64>,
    /// 99th percentile, ns.
    pub p99_ns: Option<u64>,
    /// 99.9th percentile, ns.
    pub p999_ns: Option<u64>,
    /// Longest delay, ns; null if the class is empty.
    pub max_ns: Option<u64>,
}

/// How well the sender of a paced run kept its schedule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PacerReport {
    /// Number of messages that were sent: fewer than scheduled if the sender gave up.
    pub sent_messages: u64,
    /// Messages for which the sender was waiting when they were due.
    pub on_time: SendDelays,
    /// Messages that were due while the sender was waiting but did not run.
    pub in_gap: SendDelays,
    /// Messages that were due while the sender was occupied with an earlier one.
    pub behind: SendDelays,
    /// CPU time that waiting took, ns.
    pub cpu_ns: u64,
}

/// Outcome of a paced run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PacedMeasurement {
    /// Latencies from the times at which messages were due.
    pub from_schedule: Latencies,
    /// The same, of the messages that were not due in a gap of the sender.
    pub outside_gaps: Latencies,
    /// Latencies from the times at which they were sent.
    pub from_send: Latencies,
    /// Pacer of the sender.
    pub pacer: PacerReport,
    /// Scheduled rate as drawn, messages per second.
    pub scheduled_per_s: f64,
    /// Rate of the messages that arrived, per second.
    pub achieved_per_s: f64,
    /// Number of messages that were due but had not arrived when the first, second, third and last quarter of the messages
    /// were due.
    pub backlogs: [u64; 4],
    /// Half the width of the bound on the difference between the clocks of the two CPUs, ns; null on one CPU, and if the
    /// scheduler chose the CPUs.
    pub clock_uncertainty_ns: Option<f64>,
    /// The slowest messages, the slowest first, if an instrument waits for them; otherwise empty.
    pub slow_messages: Vec<SlowMessage>,
}

/// Share of the scheduled rate below which a run is saturated.
const CARRIED_SHARE: f64 = 0.99;

impl PacedMeasurement {
    /// Whether the mechanism could not carry the rate: fewer than 99 % of the scheduled messages arrived in time, or the
    /// backlog grew in each quarter and is more than one in a hundred of the `scheduled` messages at the end.
    #[must_use]
    pub fn is_saturated(&self, scheduled: u64) -> bool {
        let grows = self.backlogs.is_sorted_by(|before, after| before < after);
        let is_large = self.backlogs[3].saturating_mul(100) > scheduled;
        self.achieved_per_s < CARRIED_SHARE * self.scheduled_per_s || (grows && is_large)
    }
}

/// One peer of a run with several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerMeasurement {
    /// Number of the peer among those of its role, from 0.
    pub peer: u32,
    /// CPU to which it was pinned; `None` if the scheduler chose.
    pub cpu: Option<u32>,
    /// Time from just before the first byte of any peer was sent to just after its own last was received, ns.
    pub elapsed_ns: u64,
    /// Number of messages, or round trips, over its connections that arrived.
    pub messages: u64,
    /// Its resource usage.
    pub usage: RoleUsage,
    /// Its round trips, if it began them.
    pub round_trips: Option<RoundTrips>,
    /// In a paced run, latencies from the schedule of the messages over its connection; `None` for a peer with several.
    pub latencies: Option<Latencies>,
}

impl RoleUsage {
    /// Adds the usage of another peer of the same role. A value that is unknown for one of them is unknown for both.
    #[must_use]
    pub fn plus(self, other: &Self) -> Self {
        let sum =
            |one: Option<u64>, other: Option<u64>| one.zip(other).map(|(one, other)| one + other);
        Self {
            role: self.role,
            user_ns: self.user_ns + other.user_ns,
            system_ns: self.system_ns + other.system_ns,
            minor_faults: self.minor_faults + other.minor_faults,
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
            calls: sum(self.calls, other.calls),
            short_writes: self.short_writes + other.short_writes,
            short_reads: self.short_reads + other.short_reads,
            cpu_ns: sum(self.cpu_ns, other.cpu_ns),
            run_delay_ns: sum(self.run_delay_ns, other.run_delay_ns),
        }
    }
}

/// One of several measured phases of the same pair of peers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredPhase {
    /// Time from just before the first byte was sent to just after the last was received, ns.
    pub elapsed_ns: u64,
    /// Number of messages (or round trips) that arrived.
    pub messages: u64,
    /// Resource usage, one entry for each role.
    pub roles: Vec<RoleUsage>,
}

/// Result of a successful run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Time just before the first byte was sent, ns on `CLOCK_MONOTONIC`.
    pub began_ns: u64,
    /// Time from just before the first byte was sent to just after the last was received, ns.
    pub elapsed_ns: u64,
    /// Payload that this run was to move in one direction, bytes.
    pub total_bytes: u64,
    /// Number of messages (or round trips) that arrived.
    pub messages: u64,
    /// Payload that arrived, in one direction, bytes.
    pub arrived_bytes: u64,
    /// Number of messages sent that never arrived; `None` unless the mechanism may lose messages.
    pub lost_messages: Option<u64>,
    /// Number of phases run before this one to find the total; 0 if the total was given.
    pub calibration_phases: u32,
    /// Duration of each slice that was requested before the run, ns; all slices move the same amount.
    pub slices_ns: Vec<u64>,
    /// CPU time of the kernel threads that work for the mechanism, ns; `None` if there are none or they cannot be
    /// observed.
    pub kernel_thread_ns: Option<u64>,
    /// Distribution of round trips, for workloads with replies.
    pub round_trips: Option<RoundTrips>,
    /// Latencies and pacing, for paced runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paced: Option<PacedMeasurement>,
    /// Buffer size that the kernel granted, bytes; `None` if the mechanism has no such buffer.
    pub kernel_buffer_granted_bytes: Option<u64>,
    /// Round trip of a cache line before and after the run, ns; only for peers pinned to two different CPUs.
    pub cacheline_round_trip_ns: Option<[f64; 2]>,
    /// Time stolen by the host on the CPUs of the run, ns (the kernel counts it in ticks).
    pub steal_ns: Option<u64>,
    /// Resource usage, one entry for each role: the sum over its peers.
    pub roles: Vec<RoleUsage>,
    /// Each peer of a workload with several; otherwise absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<PeerMeasurement>,
    /// Limits of the kernel objects that the peers read, if requested.
    pub objects: Vec<KernelObject>,
    /// Readings of the counter descriptors passed to each peer, the sender first.
    pub counter_readings: Vec<Vec<CounterReading>>,
    /// Every measured phase, if several were requested; all other fields describe the last one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<MeasuredPhase>,
}

/// JSON object that a worker prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerReport {
    /// The run succeeded.
    Measured(Box<Measurement>),
    /// The run failed.
    Failed(Failure),
}

/// Words read from a counter descriptor before and after the measured phase. Empty if it could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterReading {
    /// Words read just before the phase.
    pub before: Vec<u64>,
    /// Words read just after the phase.
    pub after: Vec<u64>,
}

/// Limit of a kernel object, as read by a peer before its first phase and after its last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelObject {
    /// Role that owns the object; `None` if both peers are in one process.
    pub role: Option<Role>,
    /// Number of the descriptor or of the queue.
    pub number: i64,
    /// Kind of object: `pipe`, `unix stream socket`, `message queue` ...
    pub object: String,
    /// Name of the limit: `capacity`, `send buffer`, `receive buffer`, `size`.
    pub limit: String,
    /// Value requested from the kernel, bytes; `None` keeps the kernel's default.
    pub requested_bytes: Option<u64>,
    /// Value granted by the kernel, bytes; `None` if the object was created later.
    pub before_bytes: Option<u64>,
    /// Value at the end, bytes; `None` if the object no longer exists.
    pub after_bytes: Option<u64>,
}

/// Source of the user and system times of the roles. Their sum is exact in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UserSystemSplit {
    /// Estimated by the kernel at its ticks: in a short run, all of the time may be attributed to one of the two.
    Sampled,
    /// Measured at each entry into the kernel, as on CPUs that are isolated with `nohz_full`.
    Measured,
}
