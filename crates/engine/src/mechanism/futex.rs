//! `futex`: one slot of shared memory, and a futex word to sleep on.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};

use super::waiting::{WAIT_SPIN, WAITS};
use crate::channel::{Documentation, Mechanism};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Facts about `futex`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "futex",
    about: "slot in shared memory, signaled by a futex",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Memory,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::No("its memory must be inherited or passed"),
    helper: Helper::None,
    options: &[WAIT_SPIN],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A memfd has one slot for each direction. The sender copies its message into \
            the slot and increments a counter in shared memory. The receiver decrements the \
            counter and copies the message out. A peer that has to wait sets a flag and sleeps on \
            that flag (FUTEX_WAIT). The kernel is entered only to sleep and to wake a sleeping \
            peer. The receiver must empty the slot before the sender can use it again, so the \
            peers alternate and never copy at the same time. In mode 2exec, the receiver creates the \
            memfd and passes its descriptor to the sender (SCM_RIGHTS), over a Unix domain socket \
            with a path.",
        message_boundaries: "Kept: the slot holds one message and its length.",
        minimum_kernel: "Linux 3.17 (memfd_create).",
        defaults_that_matter: "A peer that has to wait sleeps at once. With shm-ring, a peer that \
            has to wait spins first by default. The kernel buffers nothing, so --kernel-buffer \
            does not apply.",
        references: &["man:futex(2)", "man:futex(7)", "man:memfd_create(2)"],
    },
    ..endpoint::IMPLEMENTATION
};
