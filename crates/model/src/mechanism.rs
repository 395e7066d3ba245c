//! What is known of a mechanism before it is used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a read returns one message or whatever has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundaries {
    /// A stream of bytes.
    None,
    /// One read, one message.
    Kept,
}

impl Boundaries {
    /// The word used in lists and documentation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "byte stream",
            Self::Kept => "messages",
        }
    }
}

/// What happens to the payload between the parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// Every byte arrives, in order.
    Reliable,
    /// Messages may be lost, and losses are counted.
    Lossy,
    /// Nothing moves: what remains is the harness.
    Nothing,
}

impl Delivery {
    /// The word used in lists and documentation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reliable => "reliable",
            Self::Lossy => "may lose messages",
            Self::Nothing => "moves nothing",
        }
    }
}

/// Which way the payload takes from one party to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PayloadWay {
    /// Through the kernel: a system call on either side for each message.
    Kernel,
    /// Through memory that both parties map: no call is needed.
    Memory,
    /// Through memory that both parties map, but a system call on either side tells of each message.
    RungMemory,
    /// Out of the sender's memory: a system call of the receiver's for each message.
    Reach,
    /// None: nothing moves.
    Nowhere,
}

impl PayloadWay {
    /// The word used in lists.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Memory => "shared memory",
            Self::RungMemory => "shared memory, told of by a call",
            Self::Reach => "out of the sender's memory",
            Self::Nowhere => "nowhere",
        }
    }
}

/// How a peer waits for the other. On two CPUs this decides what an exchange costs at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerWait {
    /// It sleeps at once, and the other has to wake it.
    Sleeps,
    /// It spins first, or never sleeps: an exchange needs no wake-up.
    Spins,
    /// An option decides.
    Chosen {
        /// The option.
        option: &'static str,
        /// Its values with which a peer spins.
        spins: &'static [&'static str],
    },
}

impl PeerWait {
    /// The word used in lists.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sleeps => "sleeps",
            Self::Spins => "spins",
            Self::Chosen { .. } => "sleeps or spins: an option decides",
        }
    }
}

/// Who does part of a mechanism's work beside the parties, so that they may wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Helper {
    /// Nobody.
    Nobody,
    /// A thread that the kernel has on each CPU (`NAME/0`, `NAME/1`): its CPU time is the mechanism's.
    KernelThread(&'static str),
    /// A process between the parties, which is the role broker.
    Broker,
    /// Threads that a library starts in each party's process: what they use is the party's.
    OwnThreads,
    /// What holds the files: with a disk below them the parties may wait for it.
    Disk,
}

/// What the receiver gets of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadFate {
    /// A copy: what the sender does to its buffer afterwards changes nothing.
    Copied,
    /// A copy, made when the receiver reads: until then the sender's own memory must stay as it is.
    Lent,
    /// The sender's own memory, in place, which must stay as it is until it is given back.
    HandedOver,
    /// A copy, or, where the option of that name has that value, the sender's own memory.
    Chosen {
        /// The option.
        option: &'static str,
        /// The value with which payload is handed over.
        handed_over: &'static str,
    },
    /// Nothing.
    Nothing,
}

impl PayloadFate {
    /// The word used in lists and documentation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Copied => "copied",
            Self::Lent => "lent until it is copied",
            Self::HandedOver => "handed over in place",
            Self::Chosen { .. } => "copied, or handed over in place: an option says",
            Self::Nothing => "dropped",
        }
    }
}

/// What a party learns from the mechanism itself when the other is killed. (In a run the worker
/// watches both, and ends the other.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerDeath {
    /// End of file or an error, whichever way it waits.
    Told,
    /// An error, but only once it sends: one that receives waits on.
    SenderTold,
    /// Nothing: it waits on.
    NotTold,
}

impl PeerDeath {
    /// The words used in lists and documentation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Told => "told",
            Self::SenderTold => "told when it sends",
            Self::NotTold => "not told",
        }
    }
}

/// Whether processes of different users, neither started by the other, can meet through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrelated {
    /// Yes: by a name, a key or an address.
    Yes,
    /// No, and why.
    No(&'static str),
}

impl Unrelated {
    /// The words used in documentation.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Yes => "yes".to_owned(),
            Self::No(reason) => format!("no: {reason}"),
        }
    }
}

/// A library that a mechanism is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Library {
    /// Its name, as its authors write it.
    pub name: &'static str,
    /// The version that was built in.
    pub version: &'static str,
    /// Its licence, as an SPDX expression.
    pub licence: &'static str,
}

/// What readers of results must know of the mechanism of a case, with the options of the case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaseFacts {
    /// What happens to the payload between the parties.
    pub delivery: Delivery,
    /// Which way the payload takes.
    pub way: PayloadWay,
    /// Whether the receiver gets the sender's own memory.
    pub is_handed_over: bool,
    /// Whether a peer that waits sleeps at once.
    pub sleeps: bool,
    /// The library that does the work, where one does.
    pub library: Option<String>,
}

impl CaseFacts {
    /// Whether nothing moves: what remains is the harness.
    #[must_use]
    pub fn moves_nothing(&self) -> bool {
        self.delivery == Delivery::Nothing
    }
}
