//! `process-vm`: the receiver reads from the sender's memory.

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

/// Facts about `process-vm`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "process-vm",
    about: "receiver reads the sender's memory (process_vm_readv)",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::CrossMemoryRead,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::No(
        "reading the memory of another user's process requires CAP_SYS_PTRACE",
    ),
    helper: Helper::None,
    options: &[WAIT_SPIN],
    modes: &[Mode::TwoThreads, Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "The sender stores the address and the length of its message in a small slot \
            of shared memory. The receiver calls process_vm_readv, with which the kernel copies \
            the message once, directly to its destination. The receiver then empties the slot. \
            Until then the sender waits, because the receiver reads from the sender's buffer. Both \
            peers wait as with futex. There is no mode 1thread, because one thread cannot wait for \
            itself.",
        message_boundaries: "Kept: the slot announces one message at a time.",
        minimum_kernel: "Linux 3.17 (memfd_create).",
        defaults_that_matter: "The receiver must be allowed to trace the sender. Without \
            CAP_SYS_PTRACE, both must therefore belong to the same user. If \
            kernel.yama.ptrace_scope is 1, the sender must also give its permission \
            (PR_SET_PTRACER). In ipcperf, the sender does so. The kernel buffers nothing, so \
            --kernel-buffer does not apply.",
        references: &["man:process_vm_readv(2)", "man:ptrace(2)", "man:prctl(2), PR_SET_PTRACER"],
    },
    ..endpoint::IMPLEMENTATION
};
