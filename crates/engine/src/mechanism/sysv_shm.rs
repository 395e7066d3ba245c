//! `sysv-shm`: one slot in a System V segment, with futexes to wait on.

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

/// Facts about `sysv-shm`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "sysv-shm",
    about: "slot in System V shared memory, signaled by a futex",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Memory,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::Yes,
    helper: Helper::None,
    options: &[WAIT_SPIN],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "shmget creates a segment, which other processes can find by its key; shmat \
            maps it. System V shared memory provides no way to wait for data, so the peers wait as \
            with the mechanism futex. The memory is the only difference from that mechanism. The \
            segment is marked for removal as soon as it is attached, so the kernel removes it when \
            the last peer exits. In mode 2exec, one peer creates the segment, the other one finds it \
            by its key, and it is marked for removal once both have attached it.",
        message_boundaries: "Kept: the slot holds one message and its length.",
        minimum_kernel: "Linux 2.6.0, with CONFIG_SYSVIPC.",
        defaults_that_matter: "Pages have the usual size (no SHM_HUGETLB). kernel.shmmax limits \
            the size of a segment. The kernel buffers nothing, so --kernel-buffer does not apply.",
        references: &["man:shmget(2)", "man:shmat(2)", "man:sysvipc(7)", "man:futex(2)"],
    },
    ..endpoint::IMPLEMENTATION
};
