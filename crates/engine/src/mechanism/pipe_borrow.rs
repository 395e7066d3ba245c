//! `pipe-borrow`: a pipe that borrows the pages of large messages instead of copying them in.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};

use super::pipe_end::CAPACITY;
use super::waiting::{WAIT_NONBLOCKING, WAITS};
use crate::channel::{Documentation, Mechanism, OptionSpec, OptionValues};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Option that sets the smallest message that is borrowed.
const THRESHOLD: OptionSpec = OptionSpec {
    name: "threshold",
    about: "smallest send that borrows pages, in bytes; smaller sends are copied; never: all sends \
        are copied",
    values: OptionValues::BytesOr(&["never", "8192"]),
    default: "8192",
};

/// Option that selects when the memory of a message is used again.
const REUSE: OptionSpec = OptionSpec {
    name: "reuse",
    about: "rotate: send from several buffers in rotation; sync: wait after each message until it \
        has been read",
    values: OptionValues::OneOf(&["rotate", "sync"]),
    default: "rotate",
};

/// Option that limits the number of buffers in turn.
const ROTATION: OptionSpec = OptionSpec {
    name: "rotation",
    about: "maximum number of buffers in rotation; enough: as many as needed. With too few, the \
        sender overwrites messages before they are read, which --verify detects",
    values: OptionValues::Number(1..=1_000),
    default: "enough",
};

/// Facts about `pipe-borrow`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "pipe-borrow",
    about: "unnamed pipe that borrows large messages (vmsplice)",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Lent,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::None,
    options: &[CAPACITY, THRESHOLD, REUSE, ROTATION, WAIT_NONBLOCKING],
    modes: &Mode::INHERITED,
    documentation: Documentation {
        how_it_works: "The option threshold sets a size in bytes. Smaller sends are ordinary writes. All other sends \
            use vmsplice, which puts references to the sender's pages into the pipe and copies nothing. The \
            receiver's read then copies directly from these pages, so the bytes are copied once instead of twice. \
            The sender can still write to these pages. If it does so before the receiver has read them, the receiver \
            gets the changed bytes. The option reuse selects how the sender prevents such a change:\n\n\
            - reuse=rotate: the sender does not wait until a message has been read. Instead, it sends from several \
            buffers in rotation. There is one buffer for each message that fits into the pipe, plus two more \
            buffers.\n\
            - reuse=sync: after each message that it has sent with vmsplice, the sender waits until the pipe is \
            empty. (In FreeBSD, the write call itself waits until the receiver has read the message.) The sender \
            checks with FIONREAD whether the pipe is empty, and calls sched_yield between two checks. In mode \
            1thread, the sender cannot wait after a message, because the same thread has to read this message. The \
            sender therefore checks just before it sends the next message. It has composed the next message by then, \
            in a second buffer, so that the borrowed pages stay unchanged.\n\n\
            One vmsplice transfers at most as many bytes as the pipe has room for, so a large message can take \
            several calls. With reuse=sync, ipcperf also counts the calls with which the sender checks and yields.",
        message_boundaries: "None, as with pipe.",
        minimum_kernel: "Linux 2.6.17 (vmsplice).",
        defaults_that_matter: "The default threshold is the same as in FreeBSD (PIPE_MINDIRECT, \
            8192 bytes). A pipe of 65536 bytes has 16 slots. Each page takes one slot, even if \
            only a part of the page is used. With reuse=rotate, several buffers occupy the CPU \
            cache instead of one. Together, these buffers are at most as large as the capacity of \
            the pipe (rounded up to whole messages) plus two messages.",
        references: &["man:vmsplice(2)", "man:pipe(7)", "man:FIONREAD(2const)"],
    },
    ..endpoint::IMPLEMENTATION
};
