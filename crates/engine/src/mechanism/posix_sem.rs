//! `posix-sem`: one slot of shared memory, with unnamed POSIX semaphores in it.

#[cfg(any(target_os = "linux", target_os = "freebsd"))]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};

#[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
use super::needs_linux::or_freebsd as endpoint;
use super::waiting::{WAIT_SPIN, WAITS};
use crate::channel::{Documentation, Mechanism};

/// The memory can be passed to another program where it is a memfd.
const MODES: &[Mode] = if cfg!(target_os = "linux") { &Mode::ALL } else { &Mode::INHERITED };

/// Facts about `posix-sem`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "posix-sem",
    about: "slot in shared memory, signaled by POSIX semaphores",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Memory,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::No("its memory must be inherited or passed"),
    helper: Helper::None,
    options: &[WAIT_SPIN],
    modes: MODES,
    documentation: Documentation {
        how_it_works: "This mechanism works like futex, but with semaphores of the C library \
            (sem_init, shared between processes) instead of the counters. The sender calls \
            sem_post for each message, and the receiver calls sem_wait. The semaphores are built \
            on futexes and enter the kernel only to sleep and to wake a sleeping peer. Only the C \
            library knows when it enters the kernel, so ipcperf counts one call for each sem_wait \
            that has to wait. In mode 2exec, the receiver initializes the semaphores and passes the \
            descriptor of their memory to the sender (SCM_RIGHTS), over a Unix domain socket with a \
            path.",
        message_boundaries: "Kept: the slot holds one message and its length.",
        minimum_kernel: "Linux 3.17 (memfd_create).",
        defaults_that_matter: "In glibc, sem_wait sleeps at once. In musl, it first spins up to \
            100 times. The kernel buffers nothing, so --kernel-buffer does not apply.",
        references: &["man:sem_overview(7)", "man:sem_post(3)", "man:sem_wait(3)"],
    },
    ..endpoint::IMPLEMENTATION
};
