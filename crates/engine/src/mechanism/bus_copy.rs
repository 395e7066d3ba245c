//! `bus-copy`: the sender copies each message into the receiver's pool and announces it through a socket.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};

use super::shared_options::METADATA;
use crate::channel::{Documentation, Mechanism};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Facts about `bus-copy`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "bus-copy",
    about: "like kdbus: sender copies into the receiver's pool",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::SharedMemoryWithDoorbell,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::None,
    options: &[METADATA],
    modes: &[Mode::TwoThreads, Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "kdbus was a D-Bus transport inside the kernel, which either copied messages \
            or passed them in memfds. This mechanism transfers messages as kdbus did when it \
            copied them, but needs no kernel module. Each peer has a pool, which is a memfd with \
            eight slots. A peer maps its own pool for reading, and the other peer maps this pool \
            for writing. To send a message, a peer copies it into a free slot of the other peer's \
            pool and sends a notice of 40 bytes through a Unix domain sequenced-packet socket. The \
            receiver of the message reads it in place and then returns the slot. In a round trip, \
            the notice of the reply also returns the slot. In a stream, a separate notice returns \
            four slots at a time. The slot that was freed last is used next. Each message costs \
            one copy and two calls (sendmsg and recvmsg). In a stream, the separate notices cost \
            additional calls. In kdbus, the kernel made the copy, and also checked which processes \
            may communicate.",
        message_boundaries: "Kept: each notice announces one message.",
        minimum_kernel: "Linux 3.17 (memfd_create).",
        defaults_that_matter: "The receiver gets the message in its own pool and does not copy it out. If a program \
            needs a message after the slot is returned, the program has to copy the message first. The receiver has \
            to trust the sender not to change a message after sending it. kdbus prevented such changes. With \
            metadata=timestamp, the sender reads the clock for each message and stores the time in the notice. With \
            metadata=credentials, the kernel attaches the sender's PID, UID and GID (SO_PASSCRED). --kernel-buffer \
            does not apply.",
        references: &[
            "man:memfd_create(2)",
            "man:unix(7)",
            "the documentation of kdbus: kdbus.pool(7), kdbus.message(7)",
        ],
    },
    ..endpoint::IMPLEMENTATION
};
