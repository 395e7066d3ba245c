//! `unix-dgram`: a pair of connected Unix domain datagram sockets.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::net::SocketType;

use super::socket::{SocketEnd, unix_limit, unix_pair};
use super::waiting::{self, AnyWait, WAIT, WAITS};
use crate::channel::{Channel, Documentation, MULTIPLEX, ManyPeers, Mechanism, Opened, Setup};

/// Facts about `unix-dgram`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "unix-dgram",
    about: "Unix domain datagram socket, made by socketpair",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::ErrorOnSend,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::None,
    many_peers: ManyPeers::Multiplexed,
    options: &[WAIT, MULTIPLEX],
    modes: &Mode::INHERITED,
    documentation: Documentation {
        how_it_works: "Each send appends one socket buffer (skb) to the receiver's queue, and each receive removes \
            one. When the send buffer is full (its size is SO_SNDBUF), the sender sleeps until at most a quarter \
            of the buffer is in use. Unlike datagrams over a network, these datagrams always arrive, and in order.",
        message_boundaries: "Kept: each receive returns one message.",
        minimum_kernel: "Any.",
        defaults_that_matter: "The largest message is 32 bytes smaller than SO_SNDBUF (212992 \
            bytes). SO_SNDBUF alone limits how many messages wait in the queue: \
            net.unix.max_dgram_qlen does not apply to two sockets that are connected to each \
            other.",
        references: &["man:unix(7)", "man:socketpair(2)", "man:socket(7)"],
    },
    limit: |setup| unix_limit(SocketType::DGRAM, setup),
    execute: waiting::execute::<UnixDgram, AnyWait>,
    ..Mechanism::BASE
};

struct UnixDgram;

impl Channel for UnixDgram {
    type End = SocketEnd<true>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        unix_pair(SocketType::DGRAM, setup)
    }
}
