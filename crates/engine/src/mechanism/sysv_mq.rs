//! `sysv-mq`: a System V message queue.

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

/// Facts about `sysv-mq`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "sysv-mq",
    about: "System V message queue for both directions",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::Yes,
    helper: Helper::None,
    options: &[WAIT_SPIN],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "msgsnd copies a message into the kernel, and msgrcv copies it out. Each message has a type, \
            which is a number. msgrcv returns the oldest message of the requested type. Both calls require that the \
            type is directly in front of the payload in memory. ipcperf keeps the payload elsewhere, so each peer \
            makes one more copy in its own memory. The kernel keeps a queue until it is removed. The peer that exits \
            first removes the queue. If the queue still exists after the run, the ipcperf command removes it. In mode 2exec, one \
            peer creates the queue, and the other one finds it by its key.",
        message_boundaries: "Kept: each msgrcv returns one message.",
        minimum_kernel: "Any, with CONFIG_SYSVIPC.",
        defaults_that_matter: "A message has at most kernel.msgmax (8192) bytes, and a queue holds \
            at most kernel.msgmnb (16384) bytes. --kernel-buffer sets the capacity of the queue \
            (msg_qbytes) to at most kernel.msgmnb. A larger capacity needs CAP_SYS_RESOURCE; \
            ipcperf does not try it.",
        references: &["man:msgop(2)", "man:msgctl(2)", "man:sysvipc(7)"],
    },
    ..endpoint::IMPLEMENTATION
};
