//! One run as it is stored, and as a worker gets it.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::message_options::{Handling, Reply};
use crate::workload::Kind;

/// Which parties there are and what separates them.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum Mode {
    /// One thread plays both sides, non-blocking and interleaved.
    #[serde(rename = "1thread")]
    OneThread,
    /// Two threads of one process.
    #[serde(rename = "2thread")]
    TwoThreads,
    /// Two processes, forked from one worker.
    #[serde(rename = "2proc")]
    TwoProcesses,
}

impl Mode {
    /// Every mode, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::OneThread, Self::TwoThreads, Self::TwoProcesses];

    /// The word used on the command line and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneThread => "1thread",
            Self::TwoThreads => "2thread",
            Self::TwoProcesses => "2proc",
        }
    }
}

/// What the kernel shall hold between the two parties.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum KernelBuffer {
    /// What the system gives unasked.
    Default,
    /// As large as the buffer handed to one call.
    Match,
    /// This many bytes.
    Bytes(u64),
    /// This many bytes, but no more than the system's maximum for everybody, whoever asks.
    Plain(u64),
}

impl KernelBuffer {
    /// The bytes to ask the kernel for; `None` leaves its default.
    #[must_use]
    pub const fn asked_bytes(self, buffer_bytes: u64) -> Option<u64> {
        match self {
            Self::Default => None,
            Self::Match => Some(buffer_bytes),
            Self::Bytes(bytes) | Self::Plain(bytes) => Some(bytes),
        }
    }

    /// Whether more than the system's maximum is tried.
    #[must_use]
    pub const fn privilege(self) -> Privilege {
        match self {
            Self::Default | Self::Match | Self::Bytes(_) => Privilege::Used,
            Self::Plain(_) => Privilege::Unused,
        }
    }
}

/// Whether what only a privileged process may ask of the kernel is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// It is, and does without where it is refused.
    Used,
    /// It is not.
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

/// Whether the receiver checks what it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TouchCheck {
    /// Messages are delivered and left alone.
    Off,
    /// Each message is stamped by its sender; order, length and content are checked on arrival.
    Verify,
}

/// What a calibrated run does before the phase that counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUp {
    /// Nothing but what finds the total.
    #[default]
    None,
    /// Moves messages for about so long.
    ForNs(u64),
    /// Moves so many slices of equal size, of about 0.8 ms, and reports how long each took: how long
    /// a warm-up must be is read from them.
    Slices(u32),
}

/// Several phases that count, in one and the same pair of parties: what the documents' programs call
/// iterations. Whatever is judged from them must know that they are not independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Repeats {
    /// How many; none is taken for one.
    pub count: u32,
    /// What comes before each.
    pub rest: Rest,
}

/// What the parties do before a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rest {
    /// Nothing.
    #[default]
    None,
    /// File systems are flushed, and two seconds pass.
    Settle,
}

/// Whether whoever starts a worker wants to see its parties before they begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// They begin when they are ready.
    #[default]
    Open,
    /// They wait until they are told to.
    Closed,
}

/// Whether parties look at their kernel objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Objects {
    /// They do not.
    #[default]
    Unread,
    /// They do, outside the timed region.
    Read,
}

/// What a message is answered with, where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A message of the receiver's own, of so many bytes.
    Own(usize),
    /// Itself, sent back from where it was received.
    Echo,
}

/// One run, as a worker gets it and as results files store it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunSpec {
    /// A name from the list of mechanisms, or of one's own: `lib:FILE`, `exec:PROGRAM`.
    pub mechanism: String,
    /// The mechanism's options by name; those left out have their defaults.
    pub options: BTreeMap<String, String>,
    /// What the parties do.
    pub workload: Kind,
    /// Which parties there are.
    pub mode: Mode,
    /// The CPUs of sender and receiver; `None` leaves both to the scheduler.
    pub cpus: Option<[u32; 2]>,
    /// Bytes handed to one write or read call, or of one message.
    pub buffer_bytes: u64,
    /// Payload one way; `None` has the worker calibrate it.
    pub total_bytes: Option<u64>,
    /// What the kernel shall hold between the parties.
    pub kernel_buffer: KernelBuffer,
    /// Whether messages are stamped and checked.
    pub check: TouchCheck,
    /// What else is done with messages.
    #[serde(default)]
    pub handling: Handling,
    /// What comes before the phase that counts, where no total is given.
    #[serde(default)]
    pub warm_up: WarmUp,
    /// Whether several phases count, each told for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Repeats>,
    /// Whether the parties wait to be watched.
    #[serde(default)]
    pub gate: Gate,
    /// Whether they look at their kernel objects.
    #[serde(default)]
    pub objects: Objects,
}

impl RunSpec {
    /// A calibrated stream of `mechanism` between two processes, wherever the scheduler puts them, in messages of
    /// `buffer_bytes`; all else by default.
    #[must_use]
    pub fn usual(mechanism: &str, buffer_bytes: u64) -> Self {
        Self {
            mechanism: mechanism.to_owned(),
            options: BTreeMap::new(),
            workload: Kind::Stream,
            mode: Mode::TwoProcesses,
            cpus: None,
            buffer_bytes,
            total_bytes: None,
            kernel_buffer: KernelBuffer::Default,
            check: TouchCheck::Off,
            handling: Handling::default(),
            warm_up: WarmUp::None,
            repeats: None,
            gate: Gate::Open,
            objects: Objects::Unread,
        }
    }

    /// What each message is answered with, where it is.
    #[must_use]
    pub fn answer(&self) -> Answer {
        match (self.workload, self.handling.reply) {
            (Kind::RequestReply, Reply::Echo) => Answer::Echo,
            (Kind::RequestReply, Reply::Bytes(bytes)) => Answer::Own(length(bytes)),
            (Kind::Stream | Kind::RoundTrip, _) => Answer::Own(length(self.buffer_bytes)),
        }
    }

    /// Bytes of the answer to each message; `None` where there is none.
    #[must_use]
    pub fn reply_bytes(&self) -> Option<u64> {
        self.workload.is_answered().then(|| match self.answer() {
            Answer::Own(bytes) => bytes as u64,
            Answer::Echo => self.buffer_bytes,
        })
    }

    /// Bytes of the largest message, there or back.
    #[must_use]
    pub fn largest_bytes(&self) -> u64 {
        self.reply_bytes().unwrap_or(0).max(self.buffer_bytes)
    }
}

fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
