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

const TIMED: &str = "Unlike `ipcperf run`, and like the original, this program does not touch the buffers before the clock \
    starts. In 2thread and 2proc, the sender and the receiver therefore cause a \
    page fault at the first access to each page, and the measured time includes these page faults. `ipcperf run` \
    includes them only with `--first-touch timed`.";
const TOUCHED: &str = "Each peer touches its own buffer after the fork. The original fills both \
    buffers once, before the first iteration, and forks for each iteration of 2proc. In the \
    original, each page of the receiver's buffer therefore causes a copy-on-write fault in each \
    iteration, which is part of the measured time. `ipcperf run --first-touch before-fork` \
    includes these faults, too.";
const EDITIONS: &str = "This program reproduces the editions of autumn 2021 to October 2023. Other editions differ \
    from these. The editions of 2020 and spring 2021 also print `host_configuration` and `blockcount`, print \
    `utime` before `stime`, have `-r` instead of `-g`, and have no `describe`. They map new buffers for each \
    iteration, and do not touch these buffers before the clock starts. The edition after October 2023 has `-i \
    shmem` and no `1thread`.";
const UNPINNED: &str = "Both peers run on the first CPU that the program may use, usually CPU 0. \
    The original does not pin them.";
const PINNED: &str = "Both peers run on the first CPU that the program may use, usually CPU 0.";
const REFUSED: &str = "A buffer larger than 1/8 of the available memory is refused (exit code 71). With such a \
    large buffer, the kernel may swap out or kill the original.";
const CALLED: &str = "The processes and threads of the peers have the name of the program (`comm`). Tracing \
    scripts for the original can therefore select the peers by this name (`execname`). The original calls \
    `clock_gettime` just before and just after the timed loop. On Linux, tracing scripts do not see these calls, \
    because `clock_gettime` works without a system call. Each peer therefore also calls `getrusage` just before \
    and just after the timed loop, and never within it. Tracing scripts can find the loop by these two calls.";
const FLOOR: &str = "The sender waits until the receiver is about to read, and then starts the clock. If a single \
    write sends all data, and the data fit into the buffer of the mechanism, the measured time is therefore only \
    about 2 µs: the time of a write, a wake-up and a context switch. In the original, the measured time of such a \
    transfer also includes either the start or the end of a thread, depending on the scheduler.";
const COUNTED: &str = "For each event of the original, `-P` counts the most similar event of this processor. If \
    the processor cannot count all events of a set at once, the events are counted in groups: the transfer is \
    repeated for each group, with a new pair of peers. The printed time is the time of the transfer for the first \
    group.";
const COUNTED_ITERATIONS: &str = "For each event of the original, `-P` counts the most similar event of this \
    processor. With `-P`, each iteration has its own pair of peers. If the processor cannot count all events of a \
    set at once, the events are counted in groups: each iteration is executed once per group, with a new pair of \
    peers. The printed time of an iteration is its time for the first group.";
const RESTED: &str = "In 2proc, the sender of the original waits for 1 s after the transfer. Here, the sender does \
    not wait.";
const BUFFERED: &str = "With `tcp`, `-s` requests the size of the socket buffers before the connection is made; \
    the original requests it afterwards. With `local` and `tcp`, Linux grants twice the requested size.";

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
    about: "as ipc-static, also with iterations, counts of getrusage, and output as JSON or XML (editions of \
        autumn 2021 to October 2023)",
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
        "Without `-P`, up to a million iterations run in one pair of peers. If there are more iterations, they are \
            divided among several pairs, one after the other. The results of all iterations of a pair are printed \
            when the pair ends. The original forks for each iteration, and prints each result at the end of its \
            iteration.",
        "`--libxo` accepts `text`, `json`, `xml` and `pretty` (`T`, `J`, `X`, `P`). Other options \
            of libxo are refused (exit code 64). The environment variable LIBXO_OPTIONS is not \
            read.",
        "`msgsnd` and `msgrcv` are the numbers of calls that sent and received data. ipcperf \
            itself counts these calls, because Linux does not count them. In 1thread, sends and \
            receives are not counted separately, and both values are the number of messages.",
        "The sum of `stime` and `utime` is exact: it is read from the CPU-time clocks of the peers. The division \
            of this sum into `stime` and `utime` is an estimate by the kernel.",
        "Configuration values of FreeBSD that do not exist on Linux are left out.",
    ],
    usage: edition_2021::usage,
    run: edition_2021::run,
};
