//! `sysv-sem`: one slot of shared memory, and a set of System V semaphores.

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

/// Facts about `sysv-sem`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "sysv-sem",
    about: "slot in shared memory, signaled by System V semaphores",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::SharedMemoryWithDoorbell,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::No(
        "the semaphores can be found by a key, but the memory must be inherited or passed",
    ),
    helper: Helper::None,
    options: &[WAIT_SPIN],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A memfd has one slot for each direction. The sender copies its message into \
            the slot and adds 1 to a semaphore with semop. The receiver subtracts 1 and copies the \
            message out. Another semaphore of the same set wakes a sender that waits for the slot \
            to become free. Each of these operations is a system call. The kernel keeps a set of \
            semaphores until it is removed. The peer that exits first removes the set. If the set \
            still exists after the run, the ipcperf command removes it. In mode 2exec, one peer creates \
            the set, and the other one finds it by its key; the receiver passes the descriptor of the \
            memfd to the sender (SCM_RIGHTS), over a Unix domain socket with a path.",
        message_boundaries: "Kept: the slot holds one message and its length.",
        minimum_kernel: "Linux 3.17 (memfd_create), with CONFIG_SYSVIPC.",
        defaults_that_matter: "Each semop performs one operation and does not use SEM_UNDO. With \
            SEM_UNDO, the kernel's adjustment values would overflow, because one peer only adds to \
            a semaphore and the other peer only subtracts from it. The kernel buffers no payload, \
            so --kernel-buffer does not apply.",
        references: &["man:semop(2)", "man:semget(2)", "man:sysvipc(7)"],
    },
    ..endpoint::IMPLEMENTATION
};
