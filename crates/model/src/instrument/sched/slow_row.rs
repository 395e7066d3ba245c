//! Row that explains the slowest messages of a paced run.

use serde::{Deserialize, Serialize};

/// Number of messages that are listed one by one.
pub const LISTED: usize = 20;

/// What happened between the schedule and the arrival of the slowest messages of a paced run. A row of the run as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowMessagesRow {
    /// Number of messages above the 99th percentile of the latency from the schedule; at least 20 and at most 10,000.
    pub slow_messages: u64,
    /// Least latency among them, ns.
    pub slow_from_ns: u64,
    /// Number of those that are not explained, because the record of events begins after they were due.
    pub unrecorded_messages: u64,
    /// What delayed the messages that are explained, most frequent first.
    pub causes: Vec<CauseShare>,
    /// The slowest of them, the slowest first; at most 20.
    pub slowest: Vec<ExplainedMessage>,
    /// Events that this kernel does not report, each with the reason.
    pub unavailable_events: Vec<String>,
}

/// One cause of delays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CauseShare {
    /// What happened.
    pub cause: DelayCause,
    /// Role to which it happened; null if to none of them.
    pub role: Option<String>,
    /// Number of messages that it delayed more than anything else did.
    pub main_cause_of: u64,
    /// Its part of the latencies of all slow messages, ns.
    pub total_ns: u64,
}

/// One message, explained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainedMessage {
    /// Number of the message, from 0.
    pub number: u64,
    /// Size of the message, bytes.
    pub bytes: u64,
    /// Time at which it was due, ns after the sender began.
    pub due_after_ns: u64,
    /// Latency from the schedule, ns.
    pub latency_ns: u64,
    /// Time from when it was due until it was sent, ns.
    pub sent_late_ns: u64,
    /// What its latency consists of, the largest part first. The parts add up to the latency.
    pub parts: Vec<DelayPart>,
}

/// Part of a latency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelayPart {
    /// What happened.
    pub cause: DelayCause,
    /// Role to which it happened; null if to none of them.
    pub role: Option<String>,
    /// How long it took, ns.
    pub ns: u64,
}

/// What happens to a message between schedule and arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DelayCause {
    /// A role was ready to run, but its CPU ran something else.
    RunQueueDelay,
    /// A role was ready to run, and its CPU was idle but not awake yet.
    IdleExit,
    /// A role ran, after a page fault.
    PageFault,
    /// A role ran, but its CPU handled a softirq.
    Softirq,
    /// A role ran, but its CPU handled an interrupt.
    Interrupt,
    /// The receiver ran, but was still occupied with messages before this one.
    PeerNotWaiting,
    /// The sender slept in the send of a message before this one: the channel was full.
    ChannelFull,
    /// The sender ran, but was still sending a message before this one.
    PreviousSend,
    /// A role ran on its CPU: it sent or received this message.
    Work,
    /// A role was stopped by a signal or a debugger.
    Stopped,
    /// All roles slept: something else had to happen first.
    AllAsleep,
    /// A role ran as far as the kernel knows, but nothing happened for too long: the host probably ran something else.
    StealSuspected,
}

impl DelayCause {
    /// Short description, for tables.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::RunQueueDelay => "run-queue delay",
            Self::IdleExit => "idle exit",
            Self::PageFault => "page fault",
            Self::Softirq => "softirq",
            Self::Interrupt => "interrupt",
            Self::PeerNotWaiting => "not waiting yet",
            Self::ChannelFull => "channel full",
            Self::PreviousSend => "previous send",
            Self::Work => "work on CPU",
            Self::Stopped => "stopped",
            Self::AllAsleep => "all roles asleep",
            Self::StealSuspected => "steal suspected",
        }
    }
}
