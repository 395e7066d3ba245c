//! `mptcp`: Multipath TCP over the loopback interface.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};

use super::waiting::{WAIT, WAITS};
use crate::channel::{Documentation, MULTIPLEX, ManyPeers, Mechanism};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Facts about `mptcp`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "mptcp",
    about: "Multipath TCP over the loopback interface, on one path",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::Yes,
    helper: Helper::KernelThread("ksoftirqd"),
    many_peers: ManyPeers::Multiplexed,
    options: &[WAIT, MULTIPLEX],
    modes: &Mode::INHERITED,
    documentation: Documentation {
        how_it_works: "A connection of MPTCP is a TCP connection with additional sequence numbers, \
            with which the data can be divided among several network paths. ipcperf uses only one \
            path. Apart from occasional stalls (see below), mptcp therefore differs from tcp only \
            by the cost of these numbers.",
        message_boundaries: "None, as with tcp.",
        minimum_kernel: "Linux 5.6, with CONFIG_MPTCP.",
        defaults_that_matter: "TCP_NODELAY is set. net.mptcp.enabled enables MPTCP for a network \
            namespace. Buffers are the same as with tcp, but --kernel-buffer requests at least 128 \
            KiB, because connections with buffers of 16 KiB stall forever.\n\n\
            With any buffer size, including the default, a connection occasionally stalls for 0.2 \
            s (observed on Linux 6.18). The cause is that a window update of the receiver does not \
            arrive. The transfer continues when the retransmission timer of MPTCP expires. MPTCP \
            then sends data again that has already arrived. nstat counts these retransmissions in \
            MPTcpExtMPTCPRetrans and MPTcpExtDuplicateData. Small messages are affected most. For \
            example, 6.5 MB in messages of 64 bytes took 0.4 to 6 s over mptcp, and 0.2 s over \
            tcp. No socket option prevents the stalls; set --timeout high enough for them.",
        references: &["https://docs.kernel.org/networking/mptcp.html", "man:tcp(7)"],
    },
    ..endpoint::IMPLEMENTATION
};
