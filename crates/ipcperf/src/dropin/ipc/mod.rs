//! `ipc-static` and `ipc-dynamic` (edition of 2015), `ipc-benchmark` and `ipc` (edition of autumn 2021 to October
//! 2023): the IPC benchmark of R. N. M. Watson, with which Bell-Thomas (2020) and Iacob (2022) measured.
//!
//! ```text
//! asked -> RunSpec -> carried out, or counted -> edition_2015, or edition_2021 -> datum -> emitter -> text, JSON, XML
//! ```

mod asked;
mod configuration;
mod counted;
mod datum;
mod edition_2015;
mod edition_2021;
mod emitter;
mod style;

use super::Program;

const TIMED: &str = "As in the original, buffers are not touched beforehand: each page costs a fault inside the clock, for the \
    sender as for the receiver, in 2thread as in 2proc. `ipcperf run` does so with `--first-touch timed`, and without \
    it measures the same transfer on buffers that are there already.";
const TOUCHED: &str = "Buffers are touched after the fork, by the peer that uses them. The original fills both once, before the first \
    iteration, and forks for each of 2proc: in each iteration the process that writes a page first, which is the \
    receiver, takes a copy-on-write fault for it inside the clock (`ipcperf run --first-touch before-fork` measures that).";
const EDITIONS: &str = "Other editions: that of 2020 and spring 2021 prints `host_configuration`, `blockcount` and `utime` before \
    `stime`, has `-r` for `-g` and no `describe`, and maps new buffers for each iteration, which it does not touch \
    before; that after October 2023 has `-i shmem` and no `1thread`.";
const UNPINNED: &str = "Pinned to the first CPU it may use, which is CPU 0 where that is allowed; the original was not pinned.";
const PINNED: &str = "Pinned to the first CPU it may use, which is CPU 0 where that is allowed.";
const REFUSED: &str = "A buffer larger than an eighth of the memory that is available is refused (71); the original was killed, or paged.";
const CALLED: &str = "Peers carry the program's name (`comm`), so that scripts which trace the original find them: `execname == \"ipc-static\"`. \
    What bounds the loop is `getrusage`, which each peer calls just before and just after it, and nowhere else once it \
    has begun; the original called `clock_gettime` there, which Linux answers without a system call.";
const FLOOR: &str = "Of a total so small that it is written at once, the time is that of one hand-over from peer to peer, some 2 us, \
    without what either does before: the sender starts the clock when the receiver is about to read. The original\'s holds \
    the start or the end of a thread, depending on the scheduler.";
const COUNTED: &str = "`-P` counts what comes nearest on this processor to the names of the original's, each iteration \
    in parties of its own: in several pairs, where the processor does not count all of a set at once.";
const RESTED: &str = "The second that a sender of 2proc waited after it was done is left out.";
const BUFFERED: &str = "`-s` of TCP is asked for before the connection is made; of either socket the kernel grants twice as much.";

/// The edition of 2015.
pub(super) const STATIC: Program = Program {
    names: &["ipc-static", "ipc-dynamic"],
    about: "bandwidth of a pipe, a local socket or TCP (R. N. M. Watson's benchmark, edition of 2015)",
    differs: &[
        TIMED,
        UNPINNED,
        CALLED,
        FLOOR,
        REFUSED,
        COUNTED,
        "`-P bus`, of the port to Linux for courses at Rice, is `-P axi`.",
        RESTED,
        BUFFERED,
    ],
    usage: edition_2015::usage,
    run: edition_2015::run,
};

/// The edition of autumn 2021.
pub(super) const BENCHMARK: Program = Program {
    names: &["ipc-benchmark", "ipc"],
    about: "the same in iterations, with getrusage, JSON and XML (edition of autumn 2021 to October 2023)",
    differs: &[
        TOUCHED,
        EDITIONS,
        PINNED,
        CALLED,
        FLOOR,
        REFUSED,
        COUNTED,
        RESTED,
        BUFFERED,
        "The iterations run in one pair of parties, or in one for each million, and are printed as such a pair ends; \
         the original forks for each, and prints each as it ends.",
        "Of the options of libxo there are `text`, `json`, `xml` and `pretty` (`T`, `J`, `X`, `P`); others are refused \
         (64), and LIBXO_OPTIONS is not read.",
        "`msgsnd` and `msgrcv` are calls that moved data, counted by us, as Linux does not count them; of 1thread, \
         which does not tell them apart, they are the messages.",
        "`stime` and `utime` add up to the CPU time by the peers' clocks; how it is split is the kernel's estimate.",
        "What FreeBSD's names have no counterpart for on Linux is left out of the configuration.",
    ],
    usage: edition_2021::usage,
    run: edition_2021::run,
};
