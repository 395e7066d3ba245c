//! What is known of a mechanism before it is used.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use ipcperf_model::mechanism::{
    Boundaries, CaseFacts, Delivery, Helper, Library, PayloadFate, PayloadWay, PeerDeath, PeerWait,
    Unrelated,
};
use ipcperf_model::{Failure, FailureKind, Mode, Report, RunSpec, Unavailable};

use crate::channel::Setup;

/// One mechanism: its facts, its limits, and how to run it.
///
/// Those of the list live as long as the program (`Mechanism<'static>`). What is known of a custom one belongs to
/// whoever asked its file, and is lent from there.
#[derive(Clone, Copy, Debug)]
pub struct Mechanism<'a> {
    /// Canonical name.
    pub name: &'a str,
    /// Description in one line.
    pub about: &'a str,
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
    /// Why it cannot be used here, where that is known beforehand, as of a file that cannot be loaded.
    pub missing: Option<&'a Unavailable>,
    /// Runs one case of it in this process, which must be a fresh worker.
    pub execute: fn(&RunSpec, &Mechanism<'_>) -> Report,
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

/// A fact of a mechanism in words, as lists, their JSON and the documentation have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactInWords {
    /// Key in JSON.
    pub key: &'static str,
    /// Heading of the column in the documentation.
    pub heading: &'static str,
    /// What it is of this mechanism.
    pub words: String,
}

impl FactInWords {
    fn of(key: &'static str, heading: &'static str, words: impl Into<String>) -> Self {
        Self { key, heading, words: words.into() }
    }
}

/// What a mechanism that says nothing of itself does: it fails.
fn cannot_run(_: &RunSpec, mechanism: &Mechanism<'_>) -> Report {
    let place = format!("{} has no way to run", mechanism.name);
    Report::Failed(Failure::new(FailureKind::Worker, place))
}

impl Mechanism<'_> {
    /// What most mechanisms have in common: no library, no limit, nothing held, nothing missing. All else is for each
    /// to say.
    pub const BASE: Mechanism<'static> = Mechanism {
        name: "",
        about: "",
        boundaries: Boundaries::None,
        delivery: Delivery::Reliable,
        way: PayloadWay::Kernel,
        waits: PeerWait::Sleeps,
        payload: PayloadFate::Copied,
        peer_death: PeerDeath::NotTold,
        unrelated: Unrelated::Yes,
        helper: Helper::Nobody,
        options: &[],
        modes: &Mode::ALL,
        documentation: Documentation {
            how_it_works: "",
            message_boundaries: "",
            minimum_kernel: "",
            defaults_that_matter: "",
            references: &[],
        },
        availability: || Ok(()),
        limit: |_| None,
        holds: |_| 0,
        library: None,
        missing: None,
        execute: cannot_run,
    };

    /// Facts that a reader of lists may want to know, the same of every mechanism and in the same order.
    #[must_use]
    pub fn facts_in_words(&self) -> Vec<FactInWords> {
        vec![
            FactInWords::of("boundaries", "boundaries", self.boundaries.name()),
            FactInWords::of("delivery", "delivery", self.delivery.name()),
            FactInWords::of("way", "way of the payload", self.way.name()),
            FactInWords::of("waits", "a waiting peer", self.waits.name()),
            FactInWords::of("payload", "payload", self.payload.name()),
            FactInWords::of("peer_death", "a killed peer is", self.peer_death.name()),
            FactInWords::of("unrelated_users", "between unrelated users", self.unrelated.words()),
        ]
    }

    /// Whether it can be used on this machine: of an own one, what was learnt of its file.
    ///
    /// # Errors
    /// What is missing.
    pub fn available(&self) -> Result<(), Unavailable> {
        self.missing.map_or_else(self.availability, |missing| Err(missing.clone()))
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

    /// What readers of results must know of a case with these options.
    #[must_use]
    pub fn case_facts(&self, options: &BTreeMap<String, String>) -> CaseFacts {
        CaseFacts {
            delivery: self.delivery,
            way: self.way,
            is_handed_over: self.fate(options) == PayloadFate::HandedOver,
            sleeps: self.sleeps(options),
            library: self.library.map(|library| library.name.to_owned()),
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

/// The largest message a mechanism carries, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Bytes of the largest message.
    pub bytes: u64,
    /// What sets the limit, in a few words.
    pub because: String,
}

/// The longer text of a mechanism's page; every mechanism has the same headings.
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
