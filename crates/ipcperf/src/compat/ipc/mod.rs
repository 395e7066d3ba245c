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

const TIMED: &str = "As in the original, nothing touches the buffers beforehand. Each page \
    therefore costs a page fault while the clock runs, for the sender and for the receiver, in \
    2thread and in 2proc. `ipcperf run --first-touch timed` measures the same; without that flag, \
    `ipcperf run` touches the buffers before the clock starts.";
const TOUCHED: &str = "Each peer touches its own buffer after the fork. The original fills both \
    buffers once, before the first iteration, and forks for each iteration of 2proc. In each \
    iteration, the receiver therefore takes a copy-on-write fault for each page of its buffer \
    while the clock runs. `ipcperf run --first-touch before-fork` measures that.";
const EDITIONS: &str = "Other editions of the original differ from this one. The editions of 2020 \
    and spring 2021 also print `host_configuration` and `blockcount`, print `utime` before \
    `stime`, have `-r` instead of `-g`, and have no `describe`. For each iteration they map new \
    buffers, which they do not touch beforehand. The edition after October 2023 has `-i shmem` and \
    no `1thread`.";
const UNPINNED: &str = "Both peers run on the first CPU that the program may use, usually CPU 0. \
    The original was not pinned.";
const PINNED: &str = "Both peers run on the first CPU that the program may use, usually CPU 0.";
const REFUSED: &str = "A buffer larger than 1/8 of the available memory is refused (exit code 71). \
    With such a buffer, the original was killed or started paging.";
const CALLED: &str = "Peers have the name of the program (`comm`), so that tracing scripts written \
    for the original find them, for example with `execname == \"ipc-static\"`. Each peer calls \
    `getrusage` just before and just after the timed loop, and not in between, so that such \
    scripts can find the loop. The original called `clock_gettime` at these points, which Linux \
    executes without a system call.";
const FLOOR: &str = "The sender starts the clock when the receiver is about to read. If the total \
    is so small that a single write sends it, the time is about 2 µs: a write, a wake-up and a \
    context switch. In the original, the time of such a total also includes the start or the end \
    of a thread, depending on the scheduler.";
const COUNTED: &str = "`-P` counts the events of this processor that are closest to those of the \
    original. Each iteration then has its own pair of peers. If the processor cannot count all \
    events of a set at once, an iteration has several pairs of peers, and its time is that of the \
    first pair.";
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
        "`-P bus` means `-P axi`. The name `bus` is from a Linux port for courses at Rice \
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
        COUNTED,
        RESTED,
        BUFFERED,
        "All iterations run in one pair of peers (one pair per million iterations), and their \
            results are printed when the pair ends. The original forks for each iteration, and \
            prints the result of an iteration when it ends.",
        "`--libxo` accepts `text`, `json`, `xml` and `pretty` (`T`, `J`, `X`, `P`). Other options \
            of libxo are refused (exit code 64). The environment variable LIBXO_OPTIONS is not \
            read.",
        "`msgsnd` and `msgrcv` are the numbers of calls that moved data. ipcperf counts these \
            calls, because Linux does not. In 1thread, where the calls to send and to receive \
            cannot be separated, both numbers are the number of messages.",
        "The sum of `stime` and `utime` is exact: it is read from the CPU-time clocks of the \
            peers. How the sum divides into `stime` and `utime` is the kernel's estimate.",
        "Configuration values of FreeBSD that do not exist on Linux are left out.",
    ],
    usage: edition_2021::usage,
    run: edition_2021::run,
};
