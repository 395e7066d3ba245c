//! Properties of a mechanism that are known before it is used.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use ipcperf_model::mechanism::{
    Boundaries, CaseFacts, Delivery, Helper, Library, PayloadPath, PayloadTransfer, PeerDeath,
    PeerWait, Unrelated,
};
use ipcperf_model::wait::Wait;
use ipcperf_model::{Failure, FailureKind, Mode, RunSpec, Unavailable, WorkerReport};

use super::Setup;
use super::meeting::ProgramPart;

/// One mechanism: its properties, its limits, and how to run it.
///
/// Listed mechanisms live as long as the program (`Mechanism<'static>`). The properties of a custom mechanism are owned
/// by the caller that queried its file, and are borrowed from there.
#[derive(Clone, Copy, Debug)]
pub struct Mechanism<'a> {
    /// Canonical name.
    pub name: &'a str,
    /// One-line description.
    pub about: &'a str,
    /// Whether messages keep their boundaries.
    pub boundaries: Boundaries,
    /// Delivery guarantee of messages.
    pub delivery: Delivery,
    /// Path of the payload, which determines its hardware limit.
    pub path: PayloadPath,
    /// How a peer waits for the other.
    pub waits: PeerWait,
    /// Form in which the receiver gets the payload.
    pub payload: PayloadTransfer,
    /// How a peer detects the other's death.
    pub peer_death: PeerDeath,
    /// Whether it works between processes of different users, neither of which started the other.
    pub unrelated: Unrelated,
    /// Participant other than the peers that does part of the work.
    pub helper: Helper,
    /// Support for more than two peers.
    pub many_peers: ManyPeers,
    /// Options of the mechanism.
    pub options: &'static [OptionSpec],
    /// Modes that it can run in.
    pub modes: &'static [Mode],
    /// Longer text of its documentation page.
    pub documentation: Documentation,
    /// Whether it can be used on this machine.
    pub availability: fn() -> Result<(), Unavailable>,
    /// Largest message it carries with this setup; `None` if there is no limit.
    pub limit: fn(&Setup<'_>) -> Option<Limit>,
    /// Number of messages of the largest size that fit into its memory, not counting the buffers that the peers send
    /// from and receive into.
    pub in_flight_messages: fn(&Setup<'_>) -> u64,
    /// Library that does the work, if any.
    pub library: Option<Library>,
    /// Reason why it cannot be used here, if known beforehand: for example, a file that cannot be loaded.
    pub missing: Option<&'a Unavailable>,
    /// Runs one case in this process, which must be a fresh worker.
    pub execute: fn(&RunSpec, &Mechanism<'_>) -> WorkerReport,
    /// Runs one peer in this process, which must be a fresh program that inherited nothing; `None` if the mechanism cannot
    /// run in [`Mode::TwoPrograms`].
    pub meet: Option<MeetFn>,
}

/// Type of [`Mechanism::meet`].
pub type MeetFn = fn(&RunSpec, &Mechanism<'_>, &ProgramPart) -> Result<ProgramReport, Failure>;

/// Report of a peer in a separate program, as the worker reads it.
pub type ProgramReport = serde_json::Value;

/// Support of a mechanism for more than two peers, each with a separate connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManyPeers {
    /// One peer can wait for all of its connections at once, in a system call that takes several descriptors.
    Multiplexed,
    /// One peer can poll its connections in turn.
    Polled,
    /// A peer can wait for one connection only, so it can send over several, but not receive from whichever has a message.
    OneByOne,
    /// It cannot be opened more than once in a run, for this reason.
    TwoPeersOnly(&'static str),
}

impl ManyPeers {
    /// Description in a few words, for lists of mechanisms.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Multiplexed => "a connection each; waits for all in epoll, poll or io_uring",
            Self::Polled => "a connection each; polls them in turn",
            Self::OneByOne => "a connection each; cannot wait for several",
            Self::TwoPeersOnly(_) => "no",
        }
    }
}

/// One option of a mechanism, set with `--set MECHANISM.NAME=VALUE`.
#[derive(Debug)]
pub struct OptionSpec {
    /// Name, without that of the mechanism.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// Values it accepts.
    pub values: OptionValues,
    /// Default value.
    pub default: &'static str,
}

/// Values that an option accepts.
#[derive(Debug)]
pub enum OptionValues {
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// One of these ways to wait ([`Wait::word`]); a time may follow the word `spin`.
    Waits(&'static [&'static str]),
    /// One of these words, some of which may be unavailable on this machine.
    Choices(&'static [Choice]),
    /// Size of the kernel's buffer in bytes, which the kernel may round up, or the default, which is a word.
    Bytes,
    /// A number of bytes, or one of these words.
    BytesOr(&'static [&'static str]),
    /// A number of bytes up to this one, or the default, which may be a word.
    BytesUpTo(u64),
    /// A whole number in this range, or the default, which is a word.
    Number(RangeInclusive<u64>),
    /// Absolute path of a folder, or the default, which is a word.
    Folder,
}

/// A value of an option that may be unavailable on this machine.
#[derive(Debug)]
pub struct Choice {
    /// Spelling of the value.
    pub value: &'static str,
    /// Whether it can be used on this machine.
    pub availability: fn() -> Result<(), Unavailable>,
}

/// A value of an option that is unavailable on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnavailableValue {
    /// Name of the option.
    pub option: &'static str,
    /// Unavailable value.
    pub value: &'static str,
    /// Resource that is missing on this machine.
    pub missing: Unavailable,
}

impl OptionSpec {
    /// Value in `options`, or the default if unset.
    #[must_use]
    pub fn chosen<'a>(&self, options: &'a BTreeMap<String, String>) -> &'a str {
        options.get(self.name).map_or(self.default, String::as_str)
    }

    /// Whether the option accepts `value`, given in its canonical form.
    #[must_use]
    pub fn accepts(&self, value: &str) -> bool {
        let number = value.parse::<u64>();
        value == self.default
            || match &self.values {
                OptionValues::OneOf(words) => words.contains(&value),
                OptionValues::Waits(words) => {
                    value.parse::<Wait>().is_ok_and(|wait| words.contains(&wait.word()))
                }
                OptionValues::Choices(choices) => {
                    choices.iter().any(|choice| choice.value == value)
                }
                OptionValues::Bytes => number.is_ok_and(|bytes| bytes > 0),
                OptionValues::BytesOr(words) => {
                    words.contains(&value) || number.is_ok_and(|bytes| bytes > 0)
                }
                OptionValues::BytesUpTo(max) => {
                    number.is_ok_and(|bytes| (1..=*max).contains(&bytes))
                }
                OptionValues::Number(range) => number.is_ok_and(|number| range.contains(&number)),
                OptionValues::Folder => value.starts_with('/') && !value.contains('\0'),
            }
    }

    /// Returns `value` without the time that may follow a way to wait.
    fn word<'a>(&self, value: &'a str) -> &'a str {
        match self.values {
            OptionValues::Waits(_) => value.parse::<Wait>().map_or(value, |wait| wait.word()),
            _ => value,
        }
    }

    /// Values that are unavailable on this machine.
    #[must_use]
    pub fn unavailable_values(&self) -> Vec<UnavailableValue> {
        let OptionValues::Choices(choices) = &self.values else { return Vec::new() };
        let check = |choice: &Choice| {
            let missing = (choice.availability)().err()?;
            Some(UnavailableValue { option: self.name, value: choice.value, missing })
        };
        choices.iter().filter_map(check).collect()
    }
}

/// Text of one property of a mechanism, as in lists, their JSON and the documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormattedFact {
    /// Key in JSON.
    pub key: &'static str,
    /// Heading of the column in the documentation.
    pub heading: &'static str,
    /// Value for this mechanism.
    pub text: String,
}

impl FormattedFact {
    fn new(key: &'static str, heading: &'static str, words: impl Into<String>) -> Self {
        Self { key, heading, text: words.into() }
    }
}

/// Fallback of a mechanism without a way to run: fails.
fn cannot_run(_: &RunSpec, mechanism: &Mechanism<'_>) -> WorkerReport {
    let place = format!("{} cannot run: it has no implementation", mechanism.name);
    WorkerReport::Failed(Failure::new(FailureKind::Worker, place))
}

impl Mechanism<'_> {
    /// Values that most mechanisms share: no options, no library, no limit, no messages held, nothing missing. Every
    /// mechanism states its other facts itself, even those that are equal to the ones here: a reader looks for them.
    pub const BASE: Mechanism<'static> = Mechanism {
        name: "",
        about: "",
        boundaries: Boundaries::None,
        delivery: Delivery::Reliable,
        path: PayloadPath::Kernel,
        waits: PeerWait::Sleeps,
        payload: PayloadTransfer::Copied,
        peer_death: PeerDeath::NotDetected,
        unrelated: Unrelated::Yes,
        helper: Helper::None,
        many_peers: ManyPeers::OneByOne,
        options: &[],
        modes: &Mode::INHERITED,
        documentation: Documentation {
            how_it_works: "",
            message_boundaries: "",
            minimum_kernel: "",
            defaults_that_matter: "",
            references: &[],
        },
        availability: || Ok(()),
        limit: |_| None,
        in_flight_messages: |_| 0,
        library: None,
        missing: None,
        execute: cannot_run,
        meet: None,
    };

    /// Properties for lists of mechanisms: the same ones for every mechanism, in the same order.
    #[must_use]
    pub fn formatted_facts(&self) -> Vec<FormattedFact> {
        vec![
            FormattedFact::new("boundaries", "boundaries", self.boundaries.name()),
            FormattedFact::new("delivery", "delivery", self.delivery.name()),
            FormattedFact::new("path", "payload path", self.path.name()),
            FormattedFact::new("waits", "waiting", self.waits.name()),
            FormattedFact::new("payload", "payload", self.payload.name()),
            FormattedFact::new("peer_death", "peer death", self.peer_death.name()),
            FormattedFact::new("many_peers", "many peers", self.many_peers.description()),
            FormattedFact::new("unrelated_users", "between users", self.unrelated.description()),
        ]
    }

    /// Whether it can be used on this machine. For a custom mechanism, the result of querying its file.
    ///
    /// # Errors
    /// Returns what is missing.
    pub fn available(&self) -> Result<(), Unavailable> {
        self.missing.map_or_else(self.availability, |missing| Err(missing.clone()))
    }

    /// Form in which the receiver gets the payload with these options.
    #[must_use]
    pub fn effective_payload(&self, options: &BTreeMap<String, String>) -> PayloadTransfer {
        let PayloadTransfer::ByOption { option, handed_over } = self.payload else {
            return self.payload;
        };
        match self.value(options, option) {
            Some(value) if value == handed_over => PayloadTransfer::HandedOver,
            _ => PayloadTransfer::Copied,
        }
    }

    /// Whether a waiting peer sleeps at once with these options.
    #[must_use]
    pub fn sleeps(&self, options: &BTreeMap<String, String>) -> bool {
        match self.waits {
            PeerWait::Sleeps => true,
            PeerWait::Spins => false,
            PeerWait::ByOption { option, spins } => {
                let known = self.options.iter().find(|known| known.name == option);
                known.is_none_or(|known| !spins.contains(&known.word(known.chosen(options))))
            }
        }
    }

    /// Properties of a case with these options that a reader of results needs.
    #[must_use]
    pub fn case_facts(&self, options: &BTreeMap<String, String>) -> CaseFacts {
        CaseFacts {
            delivery: self.delivery,
            path: self.path,
            is_handed_over: self.effective_payload(options) == PayloadTransfer::HandedOver,
            sleeps: self.sleeps(options),
            library: self.library.map(|library| library.name.to_owned()),
        }
    }

    /// Size of the kernel's buffer that `options` request, bytes; the kernel may grant more. `None` if they request
    /// none.
    #[must_use]
    pub fn requested_buffer_bytes(&self, options: &BTreeMap<String, String>) -> Option<u64> {
        let is_size = |option: &&OptionSpec| matches!(option.values, OptionValues::Bytes);
        let mut sizes = self.options.iter().filter(is_size);
        sizes.find_map(|option| options.get(option.name)?.parse().ok())
    }

    /// Value of `option`: the one that was set, or its default.
    fn value<'a>(&self, options: &'a BTreeMap<String, String>, option: &str) -> Option<&'a str> {
        let default = self.options.iter().find(|known| known.name == option).map(|it| it.default);
        options.get(option).map(String::as_str).or(default)
    }

    /// First of `options` that is unavailable on this machine; unset options have their defaults.
    #[must_use]
    pub fn unavailable_value(
        &self,
        options: &BTreeMap<String, String>,
    ) -> Option<UnavailableValue> {
        let is_chosen = |option: &OptionSpec, value: &str| option.chosen(options) == value;
        self.options.iter().find_map(|option| {
            option.unavailable_values().into_iter().find(|lack| is_chosen(option, lack.value))
        })
    }
}

/// Largest message of a mechanism, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Size of the largest message, bytes.
    pub bytes: u64,
    /// Reason for the limit, in a few words.
    pub reason: String,
}

/// Longer text of a mechanism's page; every mechanism has the same headings.
#[derive(Clone, Copy, Debug)]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::MECHANISMS;

    #[test]
    fn a_requested_buffer_is_the_one_of_the_option_that_sets_its_size() {
        let pipe = MECHANISMS.iter().find(|mechanism| mechanism.name == "pipe").unwrap();
        let requested = |options: &[(&str, &str)]| {
            let options = options.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            pipe.requested_buffer_bytes(&options.collect())
        };
        assert_eq!(requested(&[("capacity", "5120"), ("wait", "poll")]), Some(5120));
        assert_eq!(requested(&[("capacity", "default")]), None);
        assert_eq!(requested(&[]), None);
    }

    #[test]
    fn every_mechanism_is_available_or_says_what_it_needs() {
        for mechanism in MECHANISMS {
            let Err(missing) = mechanism.available() else { continue };
            let name = mechanism.name;
            assert!(!missing.reason.is_empty() && !missing.remedy.is_empty(), "{name}");
            assert!(cfg!(target_os = "linux") || missing.reason.starts_with("needs "), "{name}");
        }
    }

    /// The compiler does not ask for what `BASE` has, so that a mechanism could forget it.
    #[test]
    fn every_mechanism_has_what_the_base_leaves_empty() {
        for mechanism in MECHANISMS {
            let name = mechanism.name;
            let Documentation {
                how_it_works,
                message_boundaries,
                minimum_kernel,
                defaults_that_matter,
                references,
            } = mechanism.documentation;
            let texts = [
                name,
                mechanism.about,
                how_it_works,
                message_boundaries,
                minimum_kernel,
                defaults_that_matter,
            ];
            assert!(texts.iter().all(|text| !text.is_empty()), "{name}");
            assert!(!references.is_empty() || name == "null", "{name}");
            let is_base = std::ptr::fn_addr_eq(mechanism.execute, Mechanism::BASE.execute);
            assert!(!is_base, "{name} cannot run");
        }
    }
}
