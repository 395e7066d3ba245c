//! `dgram-fds`: Unix domain datagrams that carry descriptors in addition to their bytes.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};

use super::shared_options::FDS;
use super::waiting::{WAIT_NONBLOCKING, WAITS};
use crate::channel::{Documentation, MULTIPLEX, ManyPeers, Mechanism};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Facts about `dgram-fds`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "dgram-fds",
    about: "Unix datagram with the message and file descriptors",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::ErrorOnSend,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::None,
    many_peers: ManyPeers::Multiplexed,
    options: &[FDS, WAIT_NONBLOCKING, MULTIPLEX],
    modes: &Mode::INHERITED,
    documentation: Documentation {
        how_it_works: "One sendmsg sends the message together with descriptors. The descriptors \
            are in an SCM_RIGHTS control message. Its size is a multiple of 8 bytes: 32 bytes with \
            three or four descriptors. One recvmsg receives the message and the descriptors. For each \
            descriptor, the kernel takes a reference to the open file and installs a new \
            descriptor in the receiver. The receiver closes this descriptor at once. The measured \
            time includes passing, installing and closing the descriptors. The receiver makes one \
            additional call (close) for each descriptor. The descriptors refer to /dev/null. \
            Descriptors of sockets would cost more, because the kernel would have to check for \
            reference cycles. With wait=select, a peer calls select before each sendmsg and each \
            recvmsg.",
        message_boundaries: "Kept: each receive returns one message.",
        minimum_kernel: "Linux 2.6.23 (MSG_CMSG_CLOEXEC).",
        defaults_that_matter: "The defaults are the same as for unix-dgram. The kernel allows at \
            most SCM_MAX_FD (253) descriptors per message. The option fds of ipcperf accepts at \
            most 64. For each user, the kernel counts the descriptors that are sent but not yet \
            received. If this number exceeds the sender's limit on open files (ulimit -n), sendmsg \
            fails with ETOOMANYREFS. A sender with CAP_SYS_RESOURCE or CAP_SYS_ADMIN is exempt \
            from this limit.",
        references: &["man:unix(7)", "man:cmsg(3)", "man:sendmsg(2)", "man:select(2)"],
    },
    ..endpoint::IMPLEMENTATION
};
