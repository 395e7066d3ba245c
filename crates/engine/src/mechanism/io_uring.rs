//! `io-uring`: a Unix domain stream socket, driven by operations queued in shared rings.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};

use crate::channel::{Documentation, Mechanism, OptionSpec, OptionValues};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Option that sets how many operations one system call carries out.
const DEPTH: OptionSpec = OptionSpec {
    name: "depth",
    about: "maximum number of operations per io_uring_enter",
    values: OptionValues::Number(1..=64),
    default: "1",
};

/// Option that selects what is registered with the kernel.
const REGISTERED: OptionSpec = OptionSpec {
    name: "registered",
    about: "what is registered with the kernel in advance: the socket (files), the buffers, both, \
        or none",
    values: OptionValues::OneOf(&["none", "files", "buffers", "both"]),
    default: "none",
};

/// Facts about `io-uring`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "io-uring",
    about: "Unix domain stream socket, driven through io_uring",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::None,
    options: &[DEPTH, REGISTERED],
    modes: &[Mode::TwoThreads, Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "The socket is the same as with unix-stream. A peer queues its sends and \
            receives in memory that it shares with the kernel. One io_uring_enter submits all \
            queued operations and waits until they are done. The option depth sets the maximum \
            number of operations in one io_uring_enter:\n\n\
            - depth=1: each send and each receive takes one io_uring_enter.\n\
            - depth greater than 1, in a stream: the number of send buffers is the value of depth. \
            The sender uses these buffers in rotation, and submits the sends from all of them with \
            one io_uring_enter. The sends are linked, so that each send starts only after the \
            previous one.\n\
            - depth greater than 1, in a round trip: a peer holds back each message until its next \
            receive, so that one io_uring_enter submits both the send and the receive.\n\n\
            Before a phase ends, the peer submits all sends that it still holds back. If a send \
            stops halfway, the linked sends after it are canceled, and another io_uring_enter \
            continues at that point. ipcperf does not count this as a short write. With \
            registered=files, the kernel does not have to look up the socket for each operation. \
            With registered=buffers, the buffers stay pinned and mapped, and READ_FIXED and \
            WRITE_FIXED replace RECV and SEND. There is no mode 1thread, because one thread cannot \
            wait for itself.",
        message_boundaries: "None: a receive returns the bytes that are queued, up to the \
            requested size, even if they come from several sends.",
        minimum_kernel: "Linux 5.12: since then, a send that stops halfway cancels the linked \
            sends after it. Since 5.19, the kernel itself continues a large send until it is \
            complete. Since 6.1, the ring is set up for one thread (IORING_SETUP_SINGLE_ISSUER, \
            IORING_SETUP_DEFER_TASKRUN).",
        defaults_that_matter: "The kernel runs no polling thread (no IORING_SETUP_SQPOLL). If the \
            socket is full, an operation waits as poll does: until at most a quarter of SO_SNDBUF \
            is in use. With registered=buffers, a WRITE_FIXED stops halfway when the socket \
            becomes full, so a large message takes several io_uring_enter calls. Registered \
            buffers count towards RLIMIT_MEMLOCK.",
        references: &[
            "man:io_uring(7)",
            "man:io_uring_setup(2)",
            "man:io_uring_enter(2)",
            "man:io_uring_register(2)",
            "man:unix(7)",
        ],
    },
    ..endpoint::IMPLEMENTATION
};
