//! `unix-stream`: a pair of connected Unix domain stream sockets.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::net::SocketType;

use super::socket::{SocketEnd, unix_pair};
use super::waiting::{self, AnyWait, WAIT, WAITS};
use crate::channel::{Channel, Documentation, MULTIPLEX, ManyPeers, Mechanism, Opened, Setup};

/// Facts about `unix-stream`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "unix-stream",
    about: "Unix domain stream socket, made by socketpair",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::None,
    many_peers: ManyPeers::Multiplexed,
    options: &[WAIT, MULTIPLEX],
    modes: &Mode::INHERITED,
    documentation: Documentation {
        how_it_works: "A write copies the bytes into socket buffers (skbs) in the receiver's queue. A read copies \
            the bytes out of the socket buffers. When the send buffer is full (its size is SO_SNDBUF), the writer \
            sleeps until at most a quarter of the buffer is in use. With wait=poll or wait=select, the descriptors are \
            nonblocking, and a peer calls poll or select before each read and each write. Each read and each write \
            therefore costs one additional call. With wait=spin, a peer receives and sends with MSG_DONTWAIT until that \
            succeeds.",
        message_boundaries: "None: a read returns the bytes that are queued, up to the requested \
            size, even if they come from several writes.",
        minimum_kernel: "Any.",
        defaults_that_matter: "By default, SO_SNDBUF has the value of net.core.wmem_default (212992 bytes). The \
            kernel also counts its own data for each socket buffer towards SO_SNDBUF. Small writes therefore fill \
            the send buffer with fewer payload bytes. SO_RCVBUF has no effect.",
        references: &["man:unix(7)", "man:socketpair(2)", "man:socket(7)"],
    },
    execute: waiting::execute::<UnixStream, AnyWait>,
    ..Mechanism::BASE
};

struct UnixStream;

impl Channel for UnixStream {
    type End = SocketEnd<false>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        unix_pair(SocketType::STREAM, setup)
    }
}
