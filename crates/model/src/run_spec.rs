//! Specification of one run, as results files store it and as a worker receives it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::MechanismName;
use crate::message_options::{MessageOptions, Reply};
use crate::mode::Mode;
use crate::pacing::Pacing;
use crate::peers::Peers;
use crate::prefixes::Prefixes;
use crate::workload::{Arrangement, WorkloadKind};

/// Capacity of the kernel buffer between the peers.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum KernelBuffer {
    /// Default of the system.
    Default,
    /// Size of the buffer passed to one call.
    Match,
    /// This many bytes.
    Bytes(u64),
    /// This many bytes, but at most the system's limit for unprivileged users, even for a privileged user.
    Plain(u64),
}

impl KernelBuffer {
    /// Returns the number of bytes to request from the kernel; `None` keeps its default.
    #[must_use]
    pub const fn requested_bytes(self, buffer_bytes: u64) -> Option<u64> {
        match self {
            Self::Default => None,
            Self::Match => Some(buffer_bytes),
            Self::Bytes(bytes) | Self::Plain(bytes) => Some(bytes),
        }
    }

    /// Returns whether to try privileged requests, which can exceed the limit for unprivileged users.
    #[must_use]
    pub const fn privilege(self) -> Privilege {
        match self {
            Self::Default | Self::Match | Self::Bytes(_) => Privilege::Used,
            Self::Plain(_) => Privilege::Unused,
        }
    }
}

/// Whether requests that need privilege are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// Tried, with a fallback if the kernel refuses.
    Used,
    /// Not tried.
    Unused,
}

impl fmt::Display for KernelBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Match => f.write_str("match"),
            Self::Bytes(bytes) => write!(f, "{bytes}"),
            Self::Plain(bytes) => write!(f, "plain:{bytes}"),
        }
    }
}

/// Whether the receiver checks the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PayloadCheck {
    /// Messages are delivered without a check.
    Off,
    /// The sender stamps each message; the receiver checks order, length and content.
    Verify,
}

/// Warm-up of a calibrated run before the measured phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUp {
    /// No warm-up besides the phases that find the total.
    #[default]
    None,
    /// Moves messages for about this many nanoseconds.
    ForNs(u64),
    /// Moves this many slices of equal size, of about 0.8 ms each, and reports the duration of each. The necessary
    /// length of a warm-up is derived from them.
    Slices(u32),
}

impl WarmUp {
    /// Returns the requested duration, ns; `None` if no duration was requested.
    #[must_use]
    pub const fn duration_ns(self) -> Option<u64> {
        match self {
            Self::ForNs(ns) => Some(ns),
            Self::None | Self::Slices(_) => None,
        }
    }
}

/// Several measured phases in one pair of peers, called iterations by the programs that ipcperf is compatible with.
/// An analysis must account for the fact that they are not independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepeatedPhases {
    /// Number of phases; 0 means 1.
    pub count: u32,
    /// Pause before each phase.
    pub rest: PhasePause,
}

/// Pause of the peers before a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhasePause {
    /// No pause.
    #[default]
    None,
    /// Flush the file systems, then wait for two seconds.
    Settle,
}

/// Whether the peers wait before they begin, so that an instrument can attach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// The peers begin as soon as they are ready.
    #[default]
    Open,
    /// The peers wait for a signal to begin.
    Closed,
}

/// Whether the peers read the limits of their kernel objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KernelObjectLimits {
    /// The limits are not read.
    #[default]
    Unread,
    /// The limits are read, outside the timed region.
    Read,
}

/// Answer to a message, for workloads with answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A separate message of the receiver, of this many bytes.
    Separate(usize),
    /// A separate message of the receiver, of the size of the message: only used for messages of different sizes.
    SameSize,
    /// The message itself, sent back from the buffer that it was received in.
    Echo,
}

/// Specification of one run, as a worker receives it and as results files store it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunSpec {
    /// Name from the list of mechanisms, or a custom mechanism: `lib:FILE`, `exec:PROGRAM`.
    pub mechanism: MechanismName,
    /// Options of the mechanism by name; an omitted option has its default.
    pub options: BTreeMap<String, String>,
    /// Traffic pattern.
    pub workload: WorkloadKind,
    /// Kind of the peers: threads or processes.
    pub mode: Mode,
    /// CPUs of sender and receiver; null leaves both to the scheduler.
    pub cpus: Option<[u32; 2]>,
    /// Bytes passed to one write or read call, or size of one message; of the largest one if they have different sizes.
    pub buffer_bytes: u64,
    /// Payload in one direction, bytes; null if the worker calibrates it.
    pub total_bytes: Option<u64>,
    /// Capacity of the kernel buffer between the peers.
    pub kernel_buffer: KernelBuffer,
    /// Whether messages are stamped and checked.
    pub check: PayloadCheck,
    /// Message options.
    #[serde(default)]
    pub message_options: MessageOptions,
    /// Warm-up before the measured phase, if no total is given.
    #[serde(default)]
    pub warm_up: WarmUp,
    /// Schedule of the messages; absent if each is sent as soon as possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing: Option<Pacing>,
    /// Seed of the order of messages of different sizes; 0 in a plan, because each run has its own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub order_seed: u64,
    /// Number of peers and their CPUs, for workloads with several; otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peers: Option<Peers>,
    /// Commands in front of the programs of the peers, in mode 2exec; absent if there are none.
    #[serde(default, skip_serializing_if = "Prefixes::is_empty")]
    pub prefixes: Prefixes,
    /// Several measured phases, each reported separately; absent if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<RepeatedPhases>,
    /// Whether the peers wait until instruments have attached.
    #[serde(default)]
    pub gate: Gate,
    /// Whether the peers read the limits of their kernel objects.
    #[serde(default)]
    pub objects: KernelObjectLimits,
}

impl RunSpec {
    /// Builds the specification of a calibrated stream of `mechanism` between two processes, placed by the
    /// scheduler, in messages of `buffer_bytes`; everything else has its default.
    #[must_use]
    pub fn with_defaults(mechanism: &str, buffer_bytes: u64) -> Self {
        Self {
            mechanism: mechanism.into(),
            options: BTreeMap::new(),
            workload: WorkloadKind::Stream,
            mode: Mode::TwoProcesses,
            cpus: None,
            buffer_bytes,
            total_bytes: None,
            kernel_buffer: KernelBuffer::Default,
            check: PayloadCheck::Off,
            message_options: MessageOptions::default(),
            warm_up: WarmUp::None,
            pacing: None,
            order_seed: 0,
            peers: None,
            prefixes: Prefixes::default(),
            repeats: None,
            gate: Gate::Open,
            objects: KernelObjectLimits::Unread,
        }
    }

    /// Returns the answer to each message, for workloads with answers.
    #[must_use]
    pub fn answer(&self) -> Answer {
        match self.message_options.reply {
            _ if !self.workload.takes_reply() => self.unchosen_answer(),
            Reply::Echo => Answer::Echo,
            Reply::Bytes(bytes) => Answer::Separate(length(bytes)),
        }
    }

    /// Returns the answer in a workload whose answers cannot be chosen.
    fn unchosen_answer(&self) -> Answer {
        match self.message_options.sizes {
            None => Answer::Separate(length(self.buffer_bytes)),
            Some(_) => Answer::SameSize,
        }
    }

    /// Returns the size of the smallest message from sender to receiver, bytes.
    #[must_use]
    pub fn smallest_bytes(&self) -> u64 {
        self.message_options.sizes.map_or(self.buffer_bytes, |sizes| sizes.smallest_bytes())
    }

    /// Whether messages of different sizes fit the buffer: the largest has its size.
    #[must_use]
    pub fn has_fitting_sizes(&self) -> bool {
        self.message_options.sizes.is_none_or(|sizes| sizes.largest_bytes() == self.buffer_bytes)
    }

    /// Returns the mean size of the messages from sender to receiver, bytes.
    #[must_use]
    pub fn mean_bytes(&self) -> u64 {
        self.message_options.sizes.map_or(self.buffer_bytes, |sizes| sizes.mean_bytes())
    }

    /// Returns the number of connections between peers.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.peers.as_ref().map_or(1, |peers| peers.count as usize)
    }

    /// Returns the CPUs of sender and receiver of a connection; `None` if the scheduler chooses.
    #[must_use]
    pub fn connection_cpus(&self, connection: usize) -> Option<[u32; 2]> {
        let own = self.peers.as_ref().and_then(|peers| peers.cpus.get(connection).copied());
        own.or(self.cpus)
    }

    /// Returns the CPU of each peer, the senders first; empty if the scheduler chooses.
    #[must_use]
    pub fn peer_cpus(&self) -> Vec<u32> {
        let pairs = || (0..self.connections()).filter_map(|number| self.connection_cpus(number));
        let arrangement = self.workload.facts().arrangement;
        let senders = if arrangement == Arrangement::OneToMany { 1 } else { self.connections() };
        let receivers = if arrangement == Arrangement::ManyToOne { 1 } else { self.connections() };
        let sending = pairs().take(senders).map(|[sender, _]| sender);
        sending.chain(pairs().take(receivers).map(|[_, receiver]| receiver)).collect()
    }

    /// Whether one of several peers shares its CPU with another one.
    #[must_use]
    pub fn has_shared_cpus(&self) -> bool {
        self.connections() > 1 && self.all_cpus().len() < self.peer_cpus().len()
    }

    /// Returns every CPU of the run once, in ascending order; empty if the scheduler chooses.
    #[must_use]
    pub fn all_cpus(&self) -> Vec<u32> {
        let pairs = (0..self.connections()).filter_map(|number| self.connection_cpus(number));
        let cpus: BTreeSet<u32> = pairs.flatten().collect();
        cpus.into_iter().collect()
    }

    /// Returns the size of the answer to each message, or to the largest one, bytes; `None` if messages are not answered.
    #[must_use]
    pub fn reply_bytes(&self) -> Option<u64> {
        self.workload.is_answered().then(|| match self.answer() {
            Answer::Separate(bytes) => bytes as u64,
            Answer::Echo | Answer::SameSize => self.buffer_bytes,
        })
    }

    /// Returns the size of the largest message in either direction, bytes.
    #[must_use]
    pub fn largest_bytes(&self) -> u64 {
        self.reply_bytes().unwrap_or(0).max(self.buffer_bytes)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(seed: &u64) -> bool {
    *seed == 0
}

fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
