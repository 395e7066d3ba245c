//! Static properties of a mechanism.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether message boundaries are preserved: whether a read returns one message, or whatever has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundaries {
    /// A stream of bytes: reads may merge or split messages.
    None,
    /// Each read returns exactly one message.
    Preserved,
}

impl Boundaries {
    /// Returns the word used in lists and documentation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "byte stream",
            Self::Preserved => "messages",
        }
    }
}

/// Reliability of the transfer between the peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// Every byte arrives, in order.
    Reliable,
    /// Messages may be lost, and losses are counted.
    Lossy,
    /// Nothing is transferred: the run measures the harness alone.
    Nothing,
}

impl Delivery {
    /// Returns the word used in lists and documentation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reliable => "reliable",
            Self::Lossy => "may lose messages",
            Self::Nothing => "moves nothing",
        }
    }
}

/// Path of the payload from one peer to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PayloadPath {
    /// Through the kernel: a system call on each side for every message.
    Kernel,
    /// Through memory that both peers map: no system call is needed.
    Memory,
    /// Through memory that both peers map, with a doorbell system call on each side for every message.
    SharedMemoryWithDoorbell,
    /// From the memory of the sender: a system call of the receiver for every message.
    CrossMemoryRead,
    /// No path: nothing is transferred.
    Nowhere,
}

impl PayloadPath {
    /// Returns the word used in lists.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Memory => "shared memory",
            Self::SharedMemoryWithDoorbell => "shared memory + doorbell",
            Self::CrossMemoryRead => "cross-memory read",
            Self::Nowhere => "none",
        }
    }
}

/// How a peer waits for the other. With the peers on two CPUs, this sets the minimum cost of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerWait {
    /// The peer sleeps at once, and the other has to wake it.
    Sleeps,
    /// The peer spins first, or never sleeps: an exchange needs no wake-up.
    Spins,
    /// An option decides.
    ByOption {
        /// Name of the option.
        option: &'static str,
        /// Values of the option with which a peer spins.
        spins: &'static [&'static str],
    },
}

impl PeerWait {
    /// Returns the word used in lists.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sleeps => "sleeps",
            Self::Spins => "spins",
            Self::ByOption { .. } => "sleeps or spins (option)",
        }
    }
}

/// Process, thread or device that does part of the work of a mechanism besides the peers, so that they may wait for
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Helper {
    /// None.
    None,
    /// Kernel thread of each CPU. The CPU time of the threads `NAME/0`, `NAME/1` and so on is attributed to the
    /// mechanism.
    KernelThread(&'static str),
    /// Workers of a work queue of the kernel (`kworker`), on any CPU. What all workers of the system use during a run is
    /// attributed to the mechanism, without what they used just before it.
    WorkQueue,
    /// Process between the peers: the role `broker`.
    Broker,
    /// Threads that a library starts in the process of each peer; their usage is attributed to the peer.
    LibraryThreads,
    /// File system with a disk below it, for which the peers may wait.
    Disk,
}

/// How the receiver gets the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadTransfer {
    /// As a copy: later changes by the sender have no effect.
    Copied,
    /// As a copy, made when the receiver reads: until then the sender must not change its memory.
    Lent,
    /// In place, in the memory of the sender, which the sender must not change until it is returned.
    HandedOver,
    /// As a copy, or in place in the memory of the sender if an option has a certain value.
    ByOption {
        /// Name of the option.
        option: &'static str,
        /// Value with which the payload is handed over in place.
        handed_over: &'static str,
    },
    /// Not at all.
    Nothing,
}

impl PayloadTransfer {
    /// Returns the word used in lists and documentation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Copied => "copied",
            Self::Lent => "borrowed until it is copied",
            Self::HandedOver => "handed over in place",
            Self::ByOption { .. } => "copied, or handed over in place (option)",
            Self::Nothing => "dropped",
        }
    }
}

/// How a peer learns from the mechanism itself that the other was killed. (In a run the worker monitors both peers
/// and ends the one that is left.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerDeath {
    /// EOF or error, whether it sends or receives.
    EofOrError,
    /// Error on send only: a peer that receives keeps waiting.
    ErrorOnSend,
    /// Not detected: the peer keeps waiting.
    NotDetected,
}

impl PeerDeath {
    /// Returns the words used in lists and documentation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::EofOrError => "EOF or error",
            Self::ErrorOnSend => "error on send",
            Self::NotDetected => "not detected",
        }
    }
}

/// Whether unrelated processes, of different users and neither started by the other, can connect through the
/// mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrelated {
    /// They can: by a name, a key or an address.
    Yes,
    /// They cannot, for the given reason.
    No(&'static str),
}

impl Unrelated {
    /// Returns the words used in documentation.
    #[must_use]
    pub fn description(self) -> String {
        match self {
            Self::Yes => "yes".to_owned(),
            Self::No(reason) => format!("no: {reason}"),
        }
    }
}

/// Library that a mechanism uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Library {
    /// Name, as its authors write it.
    pub name: &'static str,
    /// Version that was compiled in.
    pub version: &'static str,
    /// License, as an SPDX expression.
    pub license: &'static str,
}

/// Properties of the mechanism of a case, with the options of the case, that readers of results need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaseFacts {
    /// Reliability of the transfer between the peers.
    pub delivery: Delivery,
    /// Path of the payload.
    pub path: PayloadPath,
    /// Whether the receiver gets the sender's own memory instead of a copy.
    pub is_handed_over: bool,
    /// Whether a waiting peer sleeps at once, without spinning first.
    pub sleeps: bool,
    /// Library that does the work, if one does.
    pub library: Option<String>,
}

impl CaseFacts {
    /// Whether nothing is transferred, so that the run measures the harness alone.
    #[must_use]
    pub fn is_harness_only(&self) -> bool {
        self.delivery == Delivery::Nothing
    }
}
