//! `signal`: queued real-time signals, each with a value.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};

use super::waiting::{WAIT_SPIN, WAITS};
use crate::channel::{Documentation, ManyPeers, Mechanism};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Facts about `signal`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "signal",
    about: "queued real-time signal that carries one word",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::ErrorOnSend,
    unrelated: Unrelated::No("sending a signal to another user's process requires CAP_KILL"),
    helper: Helper::None,
    many_peers: ManyPeers::TwoPeersOnly("a process has one set of signal handlers"),
    options: &[WAIT_SPIN],
    modes: &Mode::INHERITED,
    documentation: Documentation {
        how_it_works: "rt_sigqueueinfo queues a real-time signal for the other process. The signal carries a value, \
            which is the message. sigtimedwait receives the signal together with the value. (The function sigqueue \
            would do the same as rt_sigqueueinfo, with two more calls, which get the process ID and the user ID of \
            the sender.) Each direction uses its own signal number. The signals have no handler: all threads block \
            them. The kernel never makes the sender of a signal wait. If the limit on queued signals is reached, it \
            refuses more signals. The peers therefore count the queued signals in shared memory. Once 128 are \
            queued, the sender sleeps on a futex. The receiver wakes the sender after every 64th signal received.",
        message_boundaries: "Kept: each signal carries one message of at most one word (8 bytes on a 64-bit \
            machine), with the length of the message in si_errno.",
        minimum_kernel: "Linux 2.2.",
        defaults_that_matter: "RLIMIT_SIGPENDING limits the signals that are queued for all \
            processes of a user. If other processes have used up the limit, the sender tries again \
            every millisecond. If none of the sender's own signals is queued and the kernel still \
            refuses all attempts for 1 s, the sender gives up.",
        references: &[
            "man:sigqueue(3)",
            "man:rt_sigqueueinfo(2)",
            "man:sigwaitinfo(2)",
            "man:signal(7)",
        ],
    },
    ..endpoint::IMPLEMENTATION
};
