//! Mechanisms of one's own: `exec:PROGRAM`, two processes of a program that speaks a small protocol,
//! and `lib:FILE`, a shared library made with `include/ipcperf.h`.
//!
//! They are on no list: a name says what it is and where its file lies. What is known of one is learnt
//! when it is planned. Results name it too, where the file may be gone or another's: whoever only reads
//! results gets what is true of each, and nothing is loaded or started.

mod abi;
mod end;
mod library;
mod program;
mod silence_stdout;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    const fn any(self) -> &'static Mechanism {
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

/// Those of which nothing was asked, by name.
static UNASKED: Mutex<BTreeMap<&'static str, &'static Mechanism>> = Mutex::new(BTreeMap::new());

/// Each name once: what is in it is never taken out.
static KNOWN: Mutex<BTreeMap<&'static str, &'static Mechanism>> = Mutex::new(BTreeMap::new());

fn known() -> MutexGuard<'static, BTreeMap<&'static str, &'static Mechanism>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The own mechanism called `name`: what was learnt of it, or what is true of all of its kind.
pub(super) fn find(name: &str) -> Option<&'static Mechanism> {
    let (kind, _) = own_mechanism(name)?;
    Some(known().get(name).copied().unwrap_or_else(|| kind.any()))
}

/// The custom mechanism `name`, of whose file nothing is asked: what was learnt of it, or what is true of all of
/// its kind.
#[must_use]
pub fn name_unasked(kind: OwnKind, name: &str) -> &'static Mechanism {
    if let Some(&mechanism) = known().get(name) {
        return mechanism;
    }
    let mut unasked = UNASKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(mechanism) = unasked.get(name) {
        return mechanism;
    }
    let name: &'static str = name.to_owned().leak();
    let mechanism: &'static Mechanism = Box::leak(Box::new(match kind {
        OwnKind::Program => Mechanism { name, ..PROGRAM },
        OwnKind::Library => Mechanism { name, ..LIBRARY },
    }));
    unasked.insert(name, mechanism);
    mechanism
}

/// Keeps what was found out about the program `name`: that it can be started, or why not.
pub fn learn_program(name: &str, found: Result<(), Unavailable>) -> &'static Mechanism {
    learn(name, |name| Mechanism { name, missing: found.err().map(leaked), ..PROGRAM })
}

/// Keeps what was found out about the library `name`: what it says of itself, or why it cannot be
/// loaded.
pub fn learn_library(name: &str, found: Result<LibraryFacts, Unavailable>) -> &'static Mechanism {
    match found {
        Ok(facts) => learn(name, |name| facts.mechanism(name)),
        Err(missing) => {
            learn(name, |name| Mechanism { name, missing: Some(leaked(missing)), ..LIBRARY })
        }
    }
}

fn leaked(missing: Unavailable) -> &'static Unavailable {
    Box::leak(Box::new(missing))
}

fn learn(name: &str, make: impl FnOnce(&'static str) -> Mechanism) -> &'static Mechanism {
    let mut all = known();
    if let Some(&mechanism) = all.get(name) {
        return mechanism;
    }
    let name: &'static str = name.to_owned().leak();
    let mechanism: &'static Mechanism = Box::leak(Box::new(make(name)));
    all.insert(name, mechanism);
    mechanism
}

impl LibraryFacts {
    fn mechanism(self, name: &'static str) -> Mechanism {
        Mechanism {
            name,
            about: self.about.leak(),
            boundaries: if self.keeps_boundaries { Boundaries::Kept } else { Boundaries::None },
            modes: match (self.one_thread, self.two_threads) {
                (true, true) => &Mode::ALL,
                (true, false) => &AND_ONE_THREAD,
                (false, true) => &AND_THREADS,
                (false, false) => &TWO_PROCESSES,
            },
            ..LIBRARY
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism;

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
    fn what_nothing_was_learnt_of_is_taken_to_copy_and_can_be_found() {
        let found = mechanism::find("lib:/not/there.so").unwrap();
        assert_eq!(found.payload, PayloadFate::Copied);
        assert_eq!(found.available(), Ok(()));
    }

    #[test]
    fn what_is_only_named_has_its_name_and_can_be_learnt_later() {
        let name = "lib:/only/named.so";
        let named = name_unasked(OwnKind::Library, name);
        assert_eq!((named.name, named.available()), (name, Ok(())));
        assert!(std::ptr::eq(named, name_unasked(OwnKind::Library, name)));
        let why = Unavailable { reason: "gone".to_owned(), remedy: "bring it back".to_owned() };
        assert_eq!(learn_library(name, Err(why.clone())).available(), Err(why));
        assert!(name_unasked(OwnKind::Library, name).available().is_err());
    }

    #[test]
    fn what_was_learnt_stands_under_its_name_for_good() {
        let why = Unavailable { reason: "gone".to_owned(), remedy: "bring it back".to_owned() };
        let learnt = learn_program("exec:/learnt", Err(why.clone()));
        assert_eq!(learnt.available(), Err(why));
        let again = learn_program("exec:/learnt", Ok(()));
        assert!(std::ptr::eq(learnt, again));
        assert!(std::ptr::eq(learnt, mechanism::find("exec:/learnt").unwrap()));
        assert_eq!(learnt.name, "exec:/learnt");
    }

    #[test]
    fn a_library_runs_in_the_modes_it_allows() {
        let facts = LibraryFacts {
            about: "x".to_owned(),
            keeps_boundaries: true,
            two_threads: true,
            one_thread: false,
        };
        let learnt = learn_library("lib:/modes", Ok(facts));
        assert_eq!(learnt.modes, AND_THREADS);
        assert_eq!(learnt.boundaries, Boundaries::Kept);
    }
}
