//! What a worker answers: a measurement, or a typed failure.

use std::fmt;

use rustix::io::Errno;
use rustix::process::Signal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::worker::{DialReading, KernelObject};

/// Who did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Sends the payload, or starts each round trip.
    Sender,
    /// Receives the payload, or answers each round trip.
    Receiver,
    /// A daemon between the two.
    Broker,
    /// One thread that plays both.
    Both,
}

impl Role {
    /// The word used as a prefix of result keys.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Broker => "broker",
            Self::Both => "both",
        }
    }
}

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

/// Why a run yielded nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The mechanism, a buffer or the placement could not be set up.
    SetUp,
    /// A call of the timed loop failed.
    Call,
    /// The other party's end was closed in mid-run.
    PeerGone,
    /// A message arrived changed, twice, out of order, or not at all where none may be lost.
    Corrupt,
    /// A message arrived with another length than it was sent with.
    Boundary,
    /// A party was killed or exited without a word.
    Died,
    /// A party panicked: a defect of ipcperf.
    Panicked,
    /// The run did not end in time.
    Deadline,
    /// The worker did not start, or answered nonsense.
    Worker,
    /// An instrument could not watch the run, or has nothing to tell of it.
    Instrument,
    /// A program of one's own answered what is no answer, or cannot be.
    Answer,
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SetUp => "could not be set up",
            Self::Call => "a call failed",
            Self::PeerGone => "the peer's end was closed",
            Self::Corrupt => "a message was corrupt",
            Self::Boundary => "a message boundary was lost",
            Self::Died => "a party died",
            Self::Panicked => "a party panicked",
            Self::Deadline => "the deadline passed",
            Self::Worker => "the worker failed",
            Self::Instrument => "an instrument could not watch",
            Self::Answer => "a program's answer makes no sense",
        })
    }
}

/// A typed failure of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{what}: {place}{}", errno_text(*.errno))]
pub struct Failure {
    /// The kind of failure.
    pub what: FailureKind,
    /// Which role met it, where one did.
    pub role: Option<Role>,
    /// Where: the call or step, with what it was given.
    #[serde(rename = "where")]
    pub place: String,
    /// The system's error number, where there is one.
    pub errno: Option<i32>,
    /// What the user can do.
    pub remedy: Option<String>,
    /// Whether it says nothing of the mechanism, but that the machine had no room for the harness just then: the
    /// same run may go well later.
    #[serde(default)]
    pub transient: bool,
}

fn errno_text(errno: Option<i32>) -> String {
    errno.map_or_else(String::new, |number| {
        format!(" ({})", std::io::Error::from_raw_os_error(number))
    })
}

impl Failure {
    /// A failure of `what` at `place`, with nothing else known.
    #[must_use]
    pub fn new(what: FailureKind, place: impl Into<String>) -> Self {
        let place = place.into();
        Self { what, role: None, place, errno: None, remedy: None, transient: false }
    }

    /// A call that the system refused with `errno`.
    #[must_use]
    pub fn from_errno(what: FailureKind, place: impl Into<String>, errno: Errno) -> Self {
        Self { errno: Some(errno.raw_os_error()), ..Self::new(what, place) }
    }

    /// That a process ended by `signal`, or without any. SIGKILL comes from elsewhere: from an operator, or from the
    /// kernel where there was no memory.
    #[must_use]
    pub fn killed_by(signal: Option<i32>, place: impl Into<String>) -> Self {
        let transient = signal == Some(Signal::KILL.as_raw());
        Self { transient, ..Self::new(FailureKind::Died, place) }
    }

    /// The same failure, met by `role`.
    #[must_use]
    pub fn by(self, role: Role) -> Self {
        Self { role: Some(role), ..self }
    }

    /// A call of the harness, at `place`, that the system refused with `errno`: what most often helps is its remedy.
    #[must_use]
    pub fn of_harness(what: FailureKind, place: impl Into<String>, errno: Errno) -> Self {
        let failure = Self { transient: true, ..Self::from_errno(what, place, errno) };
        match exhausted(errno) {
            Some(remedy) => failure.with_remedy(remedy),
            None => failure,
        }
    }

    /// The same failure, with what the user can do about it.
    #[must_use]
    pub fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }
}

/// Remedy for a full file system.
pub(crate) const NO_SPACE: &str = "make room in TMPDIR (else /tmp), in /dev/shm, or in the folder of the option dir; \
    or set TMPDIR or dir to a folder with more of it";

/// What to do about a resource of which there is no more; `None` where `errno` says nothing of the kind.
#[must_use]
pub fn exhausted(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::AGAIN => {
            "allow more processes: ulimit -u, or pids.max of the control group (cat /proc/self/cgroup)"
        }
        Errno::MFILE => "allow more open files: ulimit -n 1024",
        Errno::NFILE => "allow more open files on this machine: sysctl fs.file-max",
        Errno::NOMEM => {
            "free memory, or raise what is allowed: ulimit -v, memory.max of the control group"
        }
        _ => return None,
    })
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
