//! `eventfd`: one slot of shared memory, and a kernel counter as the doorbell.

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

/// Facts about `eventfd`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "eventfd",
    about: "slot in shared memory, signaled by an eventfd",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::SharedMemoryWithDoorbell,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::None,
    options: &[WAIT_SPIN],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A memfd has one slot for each direction. The sender copies its message into \
            the slot and writes 1 to an eventfd. The receiver reads the eventfd and copies the \
            message out. A second eventfd wakes a sender that waits for the slot to become free. \
            Unlike a futex, an eventfd is a descriptor, so a program can poll it together with \
            other descriptors. However, each message costs a call even if the other peer does not \
            sleep. In mode 2exec, the receiver creates the memfd and the eventfds, and passes their \
            descriptors to the sender (SCM_RIGHTS), over a Unix domain socket with a path.",
        message_boundaries: "Kept: the slot holds one message and its length.",
        minimum_kernel: "Linux 3.17 (memfd_create); wait=spin needs Linux 5.8 (RWF_NOWAIT).",
        defaults_that_matter: "EFD_SEMAPHORE is set: each read consumes one notification. The \
            kernel buffers no payload, so --kernel-buffer does not apply.",
        references: &["man:eventfd(2)", "man:memfd_create(2)"],
    },
    ..endpoint::IMPLEMENTATION
};
