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
#[cfg(target_os = "linux")]
mod program;
mod silence_stdout;

pub use library::{LibraryFacts, check_library_support, library_facts};

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{CustomKind, CustomName, MechanismName, Mode, Unavailable};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as program;
use crate::channel::{Documentation, ManyPeers, Mechanism};

/// Returns the facts that hold for every mechanism of this kind.
const fn any(kind: CustomKind) -> &'static Mechanism<'static> {
    match kind {
        CustomKind::Program => &PROGRAM,
        CustomKind::Library => &LIBRARY,
    }
}

/// Facts assumed of every program. Nothing is known about how it works, so these are the weakest claims: it
/// copies the payload, needs no system call for that, and wakes no peer.
const PROGRAM: Mechanism = Mechanism {
    name: "exec:PROGRAM",
    about: "custom program",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    path: PayloadPath::Memory,
    waits: PeerWait::Spins,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::Yes,
    helper: Helper::None,
    many_peers: ManyPeers::TwoPeersOnly("its interface opens two ends"),
    modes: &[Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "docs/custom-mechanisms.md",
        message_boundaries: "Defined by the program.",
        minimum_kernel: "Linux 5.3.",
        defaults_that_matter: "The program's own loop is part of the result.",
        references: &[],
    },
    ..program::IMPLEMENTATION
};

const LIBRARY: Mechanism = Mechanism {
    name: "lib:FILE",
    about: "custom library",
    unrelated: Unrelated::No("its ends are opened by one process"),
    modes: &TWO_PROCESSES,
    availability: Mechanism::BASE.availability,
    execute: end::execute,
    ..PROGRAM
};

const TWO_PROCESSES: [Mode; 1] = [Mode::TwoProcesses];
const WITH_TWO_THREADS: [Mode; 2] = [Mode::TwoThreads, Mode::TwoProcesses];
const WITH_ONE_THREAD: [Mode; 2] = [Mode::OneThread, Mode::TwoProcesses];

/// A custom mechanism: its name, and what its file reported if it was queried.
///
/// The caller that queries the file owns the answer: another request of the same process may find a different
/// file at the path.
#[derive(Clone, Debug)]
pub struct CustomMechanism {
    kind: CustomKind,
    name: String,
    facts: Option<LibraryFacts>,
    missing: Option<Unavailable>,
}

impl CustomMechanism {
    /// Creates the custom mechanism `name` without querying its file: it has the facts of its kind.
    #[must_use]
    pub fn unasked(name: &CustomName) -> Self {
        Self { kind: name.kind(), name: name.to_string(), facts: None, missing: None }
    }

    /// Creates the program `name`, which can be started or is unavailable for the reason in `found`.
    #[must_use]
    pub fn new_program(name: &CustomName, found: Result<(), Unavailable>) -> Self {
        Self { missing: found.err(), ..Self::unasked(name) }
    }

    /// Creates the library `name` with the facts it reports, or with the reason why it cannot be loaded.
    #[must_use]
    pub fn new_library(name: &CustomName, found: Result<LibraryFacts, Unavailable>) -> Self {
        let (facts, missing) = match found {
            Ok(facts) => (Some(facts), None),
            Err(missing) => (None, Some(missing)),
        };
        Self { facts, missing, ..Self::unasked(name) }
    }

    /// Returns the kind.
    #[must_use]
    pub const fn kind(&self) -> CustomKind {
        self.kind
    }

    /// Returns the mechanism's facts.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism<'_> {
        let (name, missing) = (self.name.as_str(), self.missing.as_ref());
        let defaults = Mechanism { name, missing, ..*any(self.kind) };
        self.facts.as_ref().map_or(defaults, |facts| facts.apply_to(defaults))
    }
}

/// Returns the facts that hold for every custom mechanism of the kind that `name` gives.
pub(super) fn find(name: &MechanismName) -> Option<&'static Mechanism<'static>> {
    name.custom().map(|custom| any(custom.kind()))
}

impl LibraryFacts {
    /// Returns `mechanism` with the facts that the library reports replaced.
    fn apply_to<'a>(&'a self, mechanism: Mechanism<'a>) -> Mechanism<'a> {
        Mechanism {
            about: &self.about,
            boundaries: if self.keeps_boundaries {
                Boundaries::Preserved
            } else {
                Boundaries::None
            },
            modes: match (self.one_thread, self.two_threads) {
                (true, true) => &Mode::INHERITED,
                (true, false) => &WITH_ONE_THREAD,
                (false, true) => &WITH_TWO_THREADS,
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
    fn what_nothing_was_asked_of_is_taken_to_copy_and_can_be_found() {
        let found = mechanism::find(&"lib:/not/there.so".into()).unwrap();
        assert_eq!(found.payload, PayloadTransfer::Copied);
        assert_eq!(found.available(), Ok(()));
    }

    #[test]
    fn what_is_only_named_has_its_name_and_can_be_asked_later() {
        let name = CustomName::new(CustomKind::Library, "/only/named.so");
        let text = "lib:/only/named.so";
        let named = CustomMechanism::unasked(&name);
        assert_eq!((named.mechanism().name, named.mechanism().available()), (text, Ok(())));
        let asked = CustomMechanism::new_library(&name, Err(gone()));
        assert_eq!((asked.mechanism().name, asked.mechanism().available()), (text, Err(gone())));
    }

    #[test]
    fn an_answer_belongs_to_whoever_asked() {
        let name = CustomName::new(CustomKind::Program, "/asked");
        let missing = CustomMechanism::new_program(&name, Err(gone()));
        let there = CustomMechanism::new_program(&name, Ok(()));
        assert_eq!(missing.mechanism().available(), Err(gone()));
        assert_eq!(there.mechanism().available(), Ok(()));
        assert_eq!(mechanism::find(&name.to_string().into()).unwrap().available(), Ok(()));
    }

    #[test]
    fn a_library_runs_in_the_modes_it_allows() {
        let facts = LibraryFacts {
            about: "x".to_owned(),
            keeps_boundaries: true,
            two_threads: true,
            one_thread: false,
        };
        let asked = CustomMechanism::new_library(
            &CustomName::new(CustomKind::Library, "/modes"),
            Ok(facts),
        );
        assert_eq!(asked.mechanism().modes, WITH_TWO_THREADS);
        assert_eq!(asked.mechanism().boundaries, Boundaries::Preserved);
        assert_eq!(asked.mechanism().about, "x");
    }
}
