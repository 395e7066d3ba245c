//! What is known of a mechanism before it is used.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::mechanism::{Setup, own};
use crate::{Mode, Report, RunSpec};

/// One mechanism: its facts, its limits, and how to run it.
#[derive(Debug)]
pub struct Mechanism {
    /// Canonical name.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Whether messages keep their boundaries.
    pub boundaries: Boundaries,
    /// What happens to the payload.
    pub delivery: Delivery,
    /// Which way the payload takes, and so what bounds it.
    pub way: PayloadWay,
    /// How a peer waits for the other.
    pub waits: PeerWait,
    /// What the receiver gets of the payload.
    pub payload: PayloadFate,
    /// What a party learns of the other's death.
    pub peer_death: PeerDeath,
    /// Whether processes of different users, neither started by the other, can meet.
    pub unrelated: Unrelated,
    /// Who else does part of the work.
    pub helper: Helper,
    /// Its options.
    pub options: &'static [OptionSpec],
    /// The modes it can run in.
    pub modes: &'static [Mode],
    /// The longer text of its documentation page.
    pub documentation: Documentation,
    /// Whether it can be used on this machine.
    pub availability: fn() -> Result<(), Unavailable>,
    /// The largest message it carries when set up so; `None` where there is no limit.
    pub limit: fn(&Setup<'_>) -> Option<Limit>,
    /// How many messages of the largest size it has memory for, besides those that the parties send from
    /// and receive into.
    pub holds: fn(&Setup<'_>) -> u64,
    /// The library that does the work, where one does.
    pub library: Option<Library>,
    /// Runs one case of it in this process, which must be a fresh worker.
    pub execute: fn(&RunSpec) -> Report,
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// One option of a mechanism, set with `--set MECHANISM.NAME=VALUE`.
#[derive(Debug)]
pub struct OptionSpec {
    /// Its name, without the mechanism's.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// What it takes.
    pub values: OptionValues,
    /// The value when it is not set.
    pub default: &'static str,
}

/// The values an option takes.
#[derive(Debug)]
pub enum OptionValues {
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// One of these words, which need what may not be everywhere.
    Choices(&'static [Choice]),
    /// A number of bytes, or the word that is the default.
    Bytes,
    /// A number of bytes, or one of these words.
    BytesOr(&'static [&'static str]),
    /// A whole number in this range, or the word that is the default.
    Number(RangeInclusive<u64>),
    /// The absolute path of a folder, or the word that is the default.
    Folder,
}

/// A value of an option that may not be had here.
#[derive(Debug)]
pub struct Choice {
    /// The word for it.
    pub word: &'static str,
    /// Whether it can be used on this machine.
    pub availability: fn() -> Result<(), Unavailable>,
}

/// A value of an option that cannot be had here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// The option.
    pub option: &'static str,
    /// Its value.
    pub value: &'static str,
    /// What is missing.
    pub missing: Unavailable,
}

impl OptionSpec {
    /// Whether `value`, in its canonical form, is one of its values.
    #[must_use]
    pub fn takes(&self, value: &str) -> bool {
        let number = value.parse::<u64>();
        value == self.default
            || match &self.values {
                OptionValues::OneOf(words) => words.contains(&value),
                OptionValues::Choices(choices) => choices.iter().any(|choice| choice.word == value),
                OptionValues::Bytes => number.is_ok_and(|bytes| bytes > 0),
                OptionValues::BytesOr(words) => {
                    words.contains(&value) || number.is_ok_and(|bytes| bytes > 0)
                }
                OptionValues::Number(range) => number.is_ok_and(|number| range.contains(&number)),
                OptionValues::Folder => value.starts_with('/') && !value.contains('\0'),
            }
    }

    /// Its values that cannot be had here.
    #[must_use]
    pub fn lacks(&self) -> Vec<Lack> {
        let OptionValues::Choices(choices) = &self.values else { return Vec::new() };
        let lack = |choice: &Choice| {
            let missing = (choice.availability)().err()?;
            Some(Lack { option: self.name, value: choice.word, missing })
        };
        choices.iter().filter_map(lack).collect()
    }
}

impl Mechanism {
    /// Whether it can be used on this machine: of an own one, what was learnt of its file.
    ///
    /// # Errors
    /// What is missing.
    pub fn available(&self) -> Result<(), Unavailable> {
        own::missing(self.name).map_or_else(self.availability, Err)
    }

    /// What the receiver gets of the payload with these options.
    #[must_use]
    pub fn fate(&self, options: &BTreeMap<String, String>) -> PayloadFate {
        let PayloadFate::Chosen { option, handed_over } = self.payload else { return self.payload };
        match self.value(options, option) {
            Some(value) if value == handed_over => PayloadFate::HandedOver,
            _ => PayloadFate::Copied,
        }
    }

    /// Whether a peer sleeps at once when it waits, with these options.
    #[must_use]
    pub fn sleeps(&self, options: &BTreeMap<String, String>) -> bool {
        match self.waits {
            PeerWait::Sleeps => true,
            PeerWait::Spins => false,
            PeerWait::Chosen { option, spins } => {
                self.value(options, option).is_none_or(|value| !spins.contains(&value))
            }
        }
    }

    /// The value of `option`: the one that was set, or its default.
    fn value<'a>(&self, options: &'a BTreeMap<String, String>, option: &str) -> Option<&'a str> {
        let default = self.options.iter().find(|known| known.name == option).map(|it| it.default);
        options.get(option).map(String::as_str).or(default)
    }

    /// The first of `options` that cannot be had here; those left out have their defaults.
    #[must_use]
    pub fn lack(&self, options: &BTreeMap<String, String>) -> Option<Lack> {
        let is_chosen = |option: &OptionSpec, value: &str| {
            options.get(option.name).map_or(option.default, String::as_str) == value
        };
        self.options.iter().find_map(|option| {
            option.lacks().into_iter().find(|lack| is_chosen(option, lack.value))
        })
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

/// The largest message a mechanism carries, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Bytes of the largest message.
    pub bytes: u64,
    /// What sets the limit, in a few words.
    pub because: String,
}

/// Why a mechanism cannot be used here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// What is missing.
    pub reason: String,
    /// What would help.
    pub remedy: String,
}

/// The longer text of a mechanism's page; every mechanism has the same headings.
#[derive(Debug)]
pub struct Documentation {
    /// *How it works*.
    pub how_it_works: &'static str,
    /// *Message boundaries*.
    pub message_boundaries: &'static str,
    /// *Minimum kernel*.
    pub minimum_kernel: &'static str,
    /// *Defaults that matter*.
    pub defaults_that_matter: &'static str,
    /// *References*: manual pages and papers.
    pub references: &'static [&'static str],
}
