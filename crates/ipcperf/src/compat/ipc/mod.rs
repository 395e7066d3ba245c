//! `ipc-static` and `ipc-dynamic` (edition of 2015), `ipc-benchmark` and `ipc` (edition of autumn 2021 to October
//! 2023): the IPC benchmark of R. N. M. Watson, with which Bell-Thomas (2020) and Iacob (2022) measured.
//!
//! ```text
//! asked -> RunSpec -> carried out, or counted -> edition_2015, or edition_2021 -> datum -> emitter -> text, JSON, XML
//! ```

mod arguments;
mod configuration;
mod counting;
mod datum;
mod edition_2015;
mod edition_2021;
mod emitter;
mod style;

use super::Program;

const TIMED: &str = "As in the original, buffers are not touched beforehand: each page costs a \
    page fault while the clock runs, for the sender and for the receiver, in 2thread and in 2proc. \
    `ipcperf run` does the same with `--first-touch timed`; without it, it measures the same \
    transfer on buffers that have been touched.";
const TOUCHED: &str = "Buffers are touched after the fork, by the peer that uses them. The \
    original fills both once, before the first iteration, and forks for each iteration of 2proc: \
    in each iteration the process that first writes a page, which is the receiver, takes a \
    copy-on-write fault for it while the clock runs (`ipcperf run --first-touch before-fork` \
    measures that).";
const EDITIONS: &str = "Other editions: those of 2020 and spring 2021 print `host_configuration`, \
    `blockcount`, and `utime` before `stime`, have `-r` instead of `-g` and no `describe`, and map \
    new buffers for each iteration, which they do not touch beforehand; the one after October 2023 \
    has `-i shmem` and no `1thread`.";
const UNPINNED: &str = "Pinned to the first CPU that it may use, CPU 0 if that is allowed; the \
    original was not pinned.";
const PINNED: &str = "Pinned to the first CPU that it may use, CPU 0 if that is allowed.";
const REFUSED: &str = "A buffer larger than 1/8 of the available memory is refused (exit code 71); \
    the original was killed, or started paging.";
const CALLED: &str = "Peers have the program's name (`comm`), so that scripts that trace the \
    original find them: `execname == \"ipc-static\"`. The loop is delimited by `getrusage`, which \
    each peer calls just before and just after it, and nowhere else once it has begun. The \
    original called `clock_gettime` there, which Linux executes without a system call.";
const FLOOR: &str = "For a total so small that it is written at once, the time is that of one \
    hand-over between the peers, some 2 µs, without what either does before: the sender starts the \
    clock when the receiver is about to read. The time of the original includes the start or the \
    end of a thread, depending on the scheduler.";
const COUNTED: &str = "`-P` counts the events of this processor that are closest to the names of \
    the original. Each iteration has separate peers; if the processor cannot count all events of a \
    set at once, it has several pairs of peers.";
const RESTED: &str = "In the original, the sender of 2proc waits 1 s after it is done; here it \
    does not.";
const BUFFERED: &str = "With TCP, the size of `-s` is requested before the connection is made; for \
    both kinds of socket the kernel grants twice the size.";

/// The edition of 2015.
pub(super) const STATIC: Program = Program {
    names: &["ipc-static", "ipc-dynamic"],
    about: "bandwidth of a pipe, a local socket or TCP (R. N. M. Watson's benchmark, edition of 2015)",
    differences: &[
        TIMED,
        UNPINNED,
        CALLED,
        FLOOR,
        REFUSED,
        COUNTED,
        "`-P bus`, from the Linux port for courses at Rice University, is `-P axi`.",
        RESTED,
        BUFFERED,
    ],
    usage: edition_2015::usage,
    run: edition_2015::run,
};

/// The edition of autumn 2021.
pub(super) const BENCHMARK: Program = Program {
    names: &["ipc-benchmark", "ipc"],
    about: "the same with iterations, getrusage, JSON and XML (editions of autumn 2021 to October \
        2023)",
    differences: &[
        TOUCHED,
        EDITIONS,
        PINNED,
        CALLED,
        FLOOR,
        REFUSED,
        COUNTED,
        RESTED,
        BUFFERED,
        "The iterations run in one pair of peers (one pair per million iterations) and are printed \
            when the pair ends; the original forks for each iteration and prints it when it ends.",
        "Of the options of libxo, `text`, `json`, `xml` and `pretty` (`T`, `J`, `X`, `P`) are \
            supported; others are refused (exit code 64), and LIBXO_OPTIONS is not read.",
        "`msgsnd` and `msgrcv` are the calls that moved data, counted by ipcperf because Linux \
            does not count them; in 1thread, where sends and receives cannot be separated, they \
            are the number of messages.",
        "The sum of `stime` and `utime` is the CPU time by the peers' clocks; its split is the \
            kernel's estimate.",
        "Configuration values of FreeBSD that have no counterpart on Linux are left out.",
    ],
    usage: edition_2021::usage,
    run: edition_2021::run,
};
