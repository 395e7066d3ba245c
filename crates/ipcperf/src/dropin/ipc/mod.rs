//! `ipc-static` and `ipc-dynamic` (edition of 2015), `ipc-benchmark` and `ipc` (from 2020 on): the benchmark with
//! which documents 000 and 003 were measured.
//!
//! ```text
//! asked -> RunSpec -> carried out, or counted -> edition_2015, or edition_2020 -> datum -> text, or JSON
//! ```

mod asked;
mod configuration;
mod counted;
mod datum;
mod edition_2015;
mod edition_2020;

use super::Program;

const TOUCHED: &str = "Buffers are touched after the fork, by the party that uses them: touched before, both parties take the faults \
     of copy-on-write again in each iteration of 2proc, and what they cost is read as bandwidth.";
const PINNED: &str = "Pinned to the first CPU it may use, which is CPU 0 where that is allowed.";
const COUNTED: &str = "`-P` counts what comes nearest on this processor to the names of the original's, each iteration \
    in parties of its own: in several pairs, where the processor does not count all of a set at once.";
const RESTED: &str = "The second that a sender of 2proc waited after it was done is left out.";
const BUFFERED: &str = "`-s` of TCP is asked for before the connection is made; of either socket the kernel grants twice as much.";

/// The edition of 2015.
pub(super) const STATIC: Program = Program {
    names: &["ipc-static", "ipc-dynamic"],
    about: "bandwidth of a pipe, a local socket or TCP (R. N. M. Watson's benchmark, edition of 2015)",
    differs: &[TOUCHED, PINNED, COUNTED, RESTED, BUFFERED],
    usage: edition_2015::usage,
    run: edition_2015::run,
};

/// The edition of 2020.
pub(super) const BENCHMARK: Program = Program {
    names: &["ipc-benchmark", "ipc"],
    about: "the same in iterations, with getrusage and JSON (edition of 2020)",
    differs: &[
        TOUCHED,
        PINNED,
        COUNTED,
        RESTED,
        BUFFERED,
        "The iterations run in one pair of parties; the original forks for each, and prints each as it ends.",
        "`msgsnd` and `msgrcv` are calls that moved data, counted by us, as Linux does not count them; of 1thread, \
         which does not tell them apart, they are the messages.",
        "What FreeBSD's names have no counterpart for on Linux is left out of the configuration.",
    ],
    usage: edition_2020::usage,
    run: edition_2020::run,
};
