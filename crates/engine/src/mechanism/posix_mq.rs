//! `posix-mq`: POSIX message queues, one in each direction.

#[cfg(any(target_os = "linux", target_os = "freebsd"))]
mod endpoint;
#[cfg(target_os = "linux")]
mod meeting;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};

#[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
use super::needs_linux::or_freebsd as endpoint;
use super::waiting::{WAIT, WAITS};
use crate::channel::{Documentation, MULTIPLEX, ManyPeers, Mechanism};

/// A queue can be passed to another program where it is a descriptor.
const MODES: &[Mode] = if cfg!(target_os = "linux") { &Mode::ALL } else { &Mode::INHERITED };

/// Facts about `posix-mq`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "posix-mq",
    about: "POSIX message queue, one in each direction",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::Yes,
    helper: Helper::None,
    many_peers: ManyPeers::Multiplexed,
    options: &[WAIT, MULTIPLEX],
    modes: MODES,
    documentation: Documentation {
        how_it_works: "mq_send copies a message into the kernel, and mq_receive copies it out. The message is copied \
            twice even if the receiver already waits. mq_receive returns the oldest message of the highest priority; \
            ipcperf uses only one priority. mq_send sleeps if the queue is full, and mq_receive sleeps if it is \
            empty. A program finds a queue by its name; ipcperf removes the name before the peers start. In mode \
            2exec, one peer creates both queues, removes their names at once, and passes their descriptors to the other \
            peer (SCM_RIGHTS), over a Unix domain socket with a path: a queue with a name would be visible to every user.",
        message_boundaries: "Kept: each mq_receive returns one message.",
        minimum_kernel: "Linux 2.6.6, with CONFIG_POSIX_MQUEUE.",
        defaults_that_matter: "A message has at most fs.mqueue.msgsize_max (8192) bytes. Larger messages need \
            CAP_SYS_RESOURCE; ipcperf does not try them. A queue has room for fs.mqueue.msg_default (10) messages of \
            the measured size. With --kernel-buffer, a queue has room for as many messages as fit into the requested \
            size, but at most fs.mqueue.msg_max. If RLIMIT_MSGQUEUE (819200 bytes for all queues of a user) does not \
            allow this number of messages, the queue has room for fewer.",
        references: &["man:mq_overview(7)", "man:mq_send(3)", "man:mq_receive(3)"],
    },
    ..endpoint::IMPLEMENTATION
};
