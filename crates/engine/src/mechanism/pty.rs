//! `pty`: a pseudoterminal in raw mode.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};

use super::waiting::{WAIT_NONBLOCKING, WAITS};
use crate::channel::{Documentation, MULTIPLEX, ManyPeers, Mechanism};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Facts about `pty`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "pty",
    about: "pseudoterminal in raw mode",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::Yes,
    helper: Helper::WorkQueue,
    many_peers: ManyPeers::Multiplexed,
    options: &[WAIT_NONBLOCKING, MULTIPLEX],
    modes: &Mode::INHERITED,
    documentation: Documentation {
        how_it_works: "The master and the terminal are the two sides of a pseudoterminal. A write \
            to the master copies the data into a buffer. A kernel worker (kworker) passes the data \
            from this buffer to the terminal's line discipline. The CPU time per message \
            includes that of the kernel worker. A read from the terminal gets the data from the line \
            discipline. Data that is written to the terminal reaches the master in the same way, \
            through the master's line discipline. In raw mode, the line discipline does not echo \
            input, edit lines or send signals.",
        message_boundaries: "None: a read returns what has arrived, usually at most 4095 bytes.",
        minimum_kernel: "Linux 4.13 (TIOCGPTPEER, which opens the terminal without a path).",
        defaults_that_matter: "Each line discipline holds 4096 bytes (N_TTY_BUF_SIZE). The buffer \
            in front of each line discipline holds about 8 KiB more. Neither size can be set, so \
            --kernel-buffer does not apply.",
        references: &["man:pty(7)", "man:termios(3)", "man:ioctl_tty(2)"],
    },
    ..endpoint::IMPLEMENTATION
};
