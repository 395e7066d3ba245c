//! Custom mechanisms: `exec:PROGRAM`, two processes of a program that speaks a small protocol, and
//! `lib:FILE`, a shared library built with `include/ipcperf.h`.
//!
//! They are on no list: the name gives the kind and the path of the file. The file is queried when a request
//! is parsed, and the answer ([`CustomMechanism`]) is a value that the request holds. Results name custom
//! mechanisms too, but there the file may be missing or have been replaced. Code that only reads results
//! therefore gets what holds for every mechanism of the kind ([`find`]), and nothing is loaded or started.

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

/// Kind of a custom mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnKind {
    /// A program that runs both peers' loops itself.
    Program,
    /// A library whose endpoints ipcperf's loops call.
    Library,
}

impl OwnKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Program, Self::Library];

    /// Returns the word before the colon, which is also the prefix of options that apply to every mechanism
    /// of the kind.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Program => "exec",
            Self::Library => "lib",
        }
    }

    /// Returns the facts that hold for every mechanism of this kind.
    const fn any(self) -> &'static Mechanism<'static> {
        match self {
            Self::Program => &PROGRAM,
            Self::Library => &LIBRARY,
        }
    }
}

/// Splits the name of a custom mechanism into its kind and its file; `None` if `name` is not such a name.
#[must_use]
pub fn own_mechanism(name: &str) -> Option<(OwnKind, &Path)> {
    let (word, path) = name.split_once(':')?;
    let kind = OwnKind::ALL.into_iter().find(|kind| kind.word() == word)?;
    (!path.is_empty()).then(|| (kind, Path::new(path)))
}

/// Facts assumed of every program. Nothing is known about how it works, so these are the weakest claims: it
/// copies the payload, needs no system call for that, and wakes no peer.
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

/// A custom mechanism: its name, and what its file reported if it was queried.
///
/// The caller that queries the file owns the answer: another request of the same process may find a different
/// file at the path.
#[derive(Clone, Debug)]
pub struct CustomMechanism {
    kind: OwnKind,
    name: String,
    facts: Option<LibraryFacts>,
    missing: Option<Unavailable>,
}

impl CustomMechanism {
    /// Creates the custom mechanism `name` without querying its file: it has the facts of its kind.
    #[must_use]
    pub fn unasked(kind: OwnKind, name: &str) -> Self {
        Self { kind, name: name.to_owned(), facts: None, missing: None }
    }

    /// Creates the program `name`, which can be started or is unavailable for the reason in `found`.
    #[must_use]
    pub fn program(name: &str, found: Result<(), Unavailable>) -> Self {
        Self { missing: found.err(), ..Self::unasked(OwnKind::Program, name) }
    }

    /// Creates the library `name` with the facts it reports, or with the reason why it cannot be loaded.
    #[must_use]
    pub fn library(name: &str, found: Result<LibraryFacts, Unavailable>) -> Self {
        let (facts, missing) = match found {
            Ok(facts) => (Some(facts), None),
            Err(missing) => (None, Some(missing)),
        };
        Self { facts, missing, ..Self::unasked(OwnKind::Library, name) }
    }

    /// Returns the mechanism's facts.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism<'_> {
        let (name, missing) = (self.name.as_str(), self.missing.as_ref());
        let unasked = Mechanism { name, missing, ..*self.kind.any() };
        self.facts.as_ref().map_or(unasked, |facts| facts.added_to(unasked))
    }
}

/// Returns the facts that hold for every custom mechanism of the kind that `name` gives.
pub(super) fn find(name: &str) -> Option<&'static Mechanism<'static>> {
    own_mechanism(name).map(|(kind, _)| kind.any())
}

impl LibraryFacts {
    /// Returns `mechanism` with the facts that the library reports replaced.
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
