//! Mechanisms of one's own: `exec:PROGRAM`, two processes of a program that speaks a small protocol,
//! and `lib:FILE`, a shared library made with `include/ipcperf.h`.
//!
//! They are on no list: a name says what it is and where its file lies. The file is asked when a request is parsed,
//! and the answer ([`CustomMechanism`]) is a value that the request holds. Results name custom mechanisms too, where
//! the file may be gone or another's: whoever only reads results gets what is true of all of a kind ([`find`]), and
//! nothing is loaded or started.

mod abi;
mod end;
mod library;
mod program;
mod silence_stdout;

use std::path::Path;

pub(crate) use library::plain;
pub use library::{LibraryFacts, library_facts};

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Mode, Unavailable};

use crate::channel::{Documentation, Mechanism};

/// The two kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnKind {
    /// A program that plays both parties' loops itself.
    Program,
    /// A library whose ends the loops of ipcperf use.
    Library,
}

impl OwnKind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Program, Self::Library];

    /// The word before the colon; also what options of all of a kind are set by.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Program => "exec",
            Self::Library => "lib",
        }
    }

    /// What is true of all of a kind.
    const fn any(self) -> &'static Mechanism<'static> {
        match self {
            Self::Program => &PROGRAM,
            Self::Library => &LIBRARY,
        }
    }
}

/// What a name says: the kind, and the file. `None` where it is no name of an own mechanism.
#[must_use]
pub fn own_mechanism(name: &str) -> Option<(OwnKind, &Path)> {
    let (word, path) = name.split_once(':')?;
    let kind = OwnKind::ALL.into_iter().find(|kind| kind.word() == word)?;
    (!path.is_empty()).then(|| (kind, Path::new(path)))
}

/// What each has in common with pipes and sockets is not known: the least is claimed, that payload is
/// copied, that no call is needed for it, and that nobody has to be woken.
const PROGRAM: Mechanism = Mechanism {
    name: "exec:PROGRAM",
    about: "a program of one's own",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    way: PayloadWay::Memory,
    waits: PeerWait::Spins,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::NotTold,
    unrelated: Unrelated::Yes,
    helper: Helper::Nobody,
    options: &[],
    modes: &[Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "docs/your-own-mechanism.md",
        message_boundaries: "What the program makes of them.",
        minimum_kernel: "Linux 5.3.",
        defaults_that_matter: "Its loop is its own.",
        references: &[],
    },
    execute: program::execute,
    ..Mechanism::BASE
};

const LIBRARY: Mechanism = Mechanism {
    name: "lib:FILE",
    about: "a library of one's own",
    unrelated: Unrelated::No("its ends are opened by one process"),
    modes: &TWO_PROCESSES,
    execute: end::execute,
    ..PROGRAM
};

const TWO_PROCESSES: [Mode; 1] = [Mode::TwoProcesses];
const AND_THREADS: [Mode; 2] = [Mode::TwoThreads, Mode::TwoProcesses];
const AND_ONE_THREAD: [Mode; 2] = [Mode::OneThread, Mode::TwoProcesses];

/// A custom mechanism: its name, and what its file said of itself, if it was asked.
///
/// Whoever asks the file owns the answer: another request of this process may find another file there.
#[derive(Clone, Debug)]
pub struct CustomMechanism {
    kind: OwnKind,
    name: String,
    facts: Option<LibraryFacts>,
    missing: Option<Unavailable>,
}

impl CustomMechanism {
    /// The custom mechanism `name`, of whose file nothing is asked: what is true of all of its kind.
    #[must_use]
    pub fn unasked(kind: OwnKind, name: &str) -> Self {
        Self { kind, name: name.to_owned(), facts: None, missing: None }
    }

    /// The program `name`, which can be started, or cannot for the reason `found`.
    #[must_use]
    pub fn program(name: &str, found: Result<(), Unavailable>) -> Self {
        Self { missing: found.err(), ..Self::unasked(OwnKind::Program, name) }
    }

    /// The library `name` with what it says of itself, or the reason why it cannot be loaded.
    #[must_use]
    pub fn library(name: &str, found: Result<LibraryFacts, Unavailable>) -> Self {
        let (facts, missing) = match found {
            Ok(facts) => (Some(facts), None),
            Err(missing) => (None, Some(missing)),
        };
        Self { facts, missing, ..Self::unasked(OwnKind::Library, name) }
    }

    /// Returns its facts.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism<'_> {
        let (name, missing) = (self.name.as_str(), self.missing.as_ref());
        let unasked = Mechanism { name, missing, ..*self.kind.any() };
        self.facts.as_ref().map_or(unasked, |facts| facts.added_to(unasked))
    }
}

/// Returns what is true of all custom mechanisms of the kind that `name` names.
pub(super) fn find(name: &str) -> Option<&'static Mechanism<'static>> {
    own_mechanism(name).map(|(kind, _)| kind.any())
}

impl LibraryFacts {
    /// Replaces in `mechanism` what the library says of itself.
    fn added_to<'a>(&'a self, mechanism: Mechanism<'a>) -> Mechanism<'a> {
        Mechanism {
            about: &self.about,
            boundaries: if self.keeps_boundaries { Boundaries::Kept } else { Boundaries::None },
            modes: match (self.one_thread, self.two_threads) {
                (true, true) => &Mode::ALL,
                (true, false) => &AND_ONE_THREAD,
                (false, true) => &AND_THREADS,
                (false, false) => &TWO_PROCESSES,
            },
            ..mechanism
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism;

    fn gone() -> Unavailable {
        Unavailable { reason: "gone".to_owned(), remedy: "bring it back".to_owned() }
    }

    #[test]
    fn a_name_says_the_kind_and_the_file() {
        let path = "/a.b/c:d";
        assert_eq!(own_mechanism("lib:/a.b/c:d"), Some((OwnKind::Library, Path::new(path))));
        assert_eq!(own_mechanism("exec:x"), Some((OwnKind::Program, Path::new("x"))));
        for other in ["lib:", "exec:", "lib", "library:/x", "pipe", ""] {
            assert_eq!(own_mechanism(other), None, "{other}");
        }
    }

    #[test]
    fn what_nothing_was_asked_of_is_taken_to_copy_and_can_be_found() {
        let found = mechanism::find("lib:/not/there.so").unwrap();
        assert_eq!(found.payload, PayloadFate::Copied);
        assert_eq!(found.available(), Ok(()));
    }

    #[test]
    fn what_is_only_named_has_its_name_and_can_be_asked_later() {
        let name = "lib:/only/named.so";
        let named = CustomMechanism::unasked(OwnKind::Library, name);
        assert_eq!((named.mechanism().name, named.mechanism().available()), (name, Ok(())));
        let asked = CustomMechanism::library(name, Err(gone()));
        assert_eq!((asked.mechanism().name, asked.mechanism().available()), (name, Err(gone())));
    }

    #[test]
    fn an_answer_belongs_to_whoever_asked() {
        let name = "exec:/asked";
        let missing = CustomMechanism::program(name, Err(gone()));
        let there = CustomMechanism::program(name, Ok(()));
        assert_eq!(missing.mechanism().available(), Err(gone()));
        assert_eq!(there.mechanism().available(), Ok(()));
        assert_eq!(mechanism::find(name).unwrap().available(), Ok(()));
    }

    #[test]
    fn a_library_runs_in_the_modes_it_allows() {
        let facts = LibraryFacts {
            about: "x".to_owned(),
            keeps_boundaries: true,
            two_threads: true,
            one_thread: false,
        };
        let asked = CustomMechanism::library("lib:/modes", Ok(facts));
        assert_eq!(asked.mechanism().modes, AND_THREADS);
        assert_eq!(asked.mechanism().boundaries, Boundaries::Kept);
        assert_eq!(asked.mechanism().about, "x");
    }
}
