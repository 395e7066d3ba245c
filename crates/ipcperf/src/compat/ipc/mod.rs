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

const TIMED: &str = "Like the original, this program does not touch the buffers before the clock \
    starts. In 2thread and 2proc, the first access of the sender and of the receiver to each page \
    therefore causes a page fault, which is part of the measured time. By default, `ipcperf run` \
    touches the buffers before the clock starts. With `--first-touch timed`, it does not.";
const TOUCHED: &str = "Each peer touches its own buffer after the fork. The original fills both \
    buffers once, before the first iteration, and forks for each iteration of 2proc. In the \
    original, each page of the receiver's buffer therefore causes a copy-on-write fault in each \
    iteration, which is part of the measured time. `ipcperf run --first-touch before-fork` \
    includes these faults, too.";
const EDITIONS: &str = "Other editions of the original differ from this one. The editions of 2020 \
    and spring 2021 also print `host_configuration` and `blockcount`, print `utime` before \
    `stime`, have `-r` instead of `-g`, and have no `describe`. They map new buffers for each \
    iteration, and do not touch them before the clock starts. The edition after October 2023 has \
    `-i shmem` and no `1thread`.";
const UNPINNED: &str = "Both peers run on the first CPU that the program may use, usually CPU 0. \
    The original does not pin them.";
const PINNED: &str = "Both peers run on the first CPU that the program may use, usually CPU 0.";
const REFUSED: &str = "A buffer larger than 1/8 of the available memory is refused (exit code 71). \
    With so large a buffer, the original may swap, or the kernel may kill it.";
const CALLED: &str = "The processes and threads of the peers have the name of the program (`comm`). Tracing \
    scripts for the original can therefore select the peers by this name (`execname`). For tracing scripts, each \
    peer also marks the timed loop by two calls of `getrusage`: one just before the loop, one just after it. The \
    peer does not call `getrusage` within the loop. The original calls `clock_gettime` just before and just after \
    the loop. On Linux, scripts cannot trace `clock_gettime`, because it works without a system call.";
const FLOOR: &str = "The sender waits until the receiver is about to read, and then starts the clock. If the data \
    fit into the buffer of the mechanism and a single write sends them, the measured time is therefore only about \
    2 µs: the time of a write, a wake-up and a context switch. In the original, the measured time of such a \
    transfer also includes the start or the end of a thread; which of the two depends on the scheduler.";
const COUNTED: &str = "For each event of the original, `-P` counts the most similar event of \
    this processor. If the processor cannot count all events of a set at once, the events are counted \
    in groups: the transfer is repeated for each group, with a new pair of peers. The printed time is \
    the time of the first group.";
const COUNTED_ITERATIONS: &str = "For each event of the original, `-P` counts the most similar \
    event of this processor. With `-P`, each iteration has its own pair of peers. If the processor \
    cannot count all events of a set at once, the events are counted in groups: each iteration is \
    executed once per group, with a new pair of peers. The printed time is the time of the first \
    group.";
const RESTED: &str = "In the original, the sender of 2proc waits for 1 s after the transfer; here, \
    it does not wait.";
const BUFFERED: &str = "With TCP, `-s` requests the size of the socket buffers before the \
    connection is made. With `local` and with `tcp`, the kernel grants twice the requested size.";

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
        "`-P bus` is accepted as another name of `-P axi`. The name `bus` is from a Linux port for courses at Rice \
            University.",
        RESTED,
        BUFFERED,
    ],
    usage: edition_2015::usage,
    run: edition_2015::run,
};

/// The edition of autumn 2021.
pub(super) const BENCHMARK: Program = Program {
    names: &["ipc-benchmark", "ipc"],
    about: "as ipc-static, with iterations, getrusage, JSON and XML (editions of autumn 2021 to \
        October 2023)",
    differences: &[
        TOUCHED,
        EDITIONS,
        PINNED,
        CALLED,
        FLOOR,
        REFUSED,
        COUNTED_ITERATIONS,
        RESTED,
        BUFFERED,
        "Without `-P`, up to a million iterations run in one pair of peers, and their results are \
            printed when the pair ends. More iterations run in several pairs, one after the \
            other. The original forks for each iteration, and prints each result at the end of \
            its iteration.",
        "`--libxo` accepts `text`, `json`, `xml` and `pretty` (`T`, `J`, `X`, `P`). Other options \
            of libxo are refused (exit code 64). The environment variable LIBXO_OPTIONS is not \
            read.",
        "`msgsnd` and `msgrcv` are the numbers of calls that sent and received data. ipcperf \
            itself counts these calls, because Linux does not count them. In 1thread, sends and \
            receives are not counted separately, and both values are the number of messages.",
        "The sum of `stime` and `utime` is exact: it is read from the CPU-time clocks of the \
            peers. How the sum divides into `stime` and `utime` is the kernel's estimate.",
        "Configuration values of FreeBSD that do not exist on Linux are left out.",
    ],
    usage: edition_2021::usage,
    run: edition_2021::run,
};
