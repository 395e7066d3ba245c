//! `unix-dgram`: a pair of connected Unix domain datagram sockets.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::net::SocketType;

use super::socket::{SocketEnd, unix_limit, unix_pair};
use crate::channel::{Channel, Documentation, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `unix-dgram`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "unix-dgram",
    about: "Unix domain datagram socket, made by socketpair",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::SenderTold,
    unrelated: Unrelated::No("descriptors are inherited or passed on"),
    helper: Helper::Nobody,
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "Each send becomes one socket buffer in the receiver's queue, each receive \
            takes one off. The sender sleeps when SO_SNDBUF is used up or the queue is full. \
            Reliable and in order, unlike datagrams on a network.",
        message_boundaries: "Kept: one receive, one message.",
        minimum_kernel: "Any.",
        defaults_that_matter: "At most net.unix.max_dgram_qlen (10) messages wait in the queue. \
            The largest message is SO_SNDBUF (212992) less 32 bytes.",
        references: &["man:unix(7)", "man:socketpair(2)", "man:socket(7)"],
    },
    limit: |setup| unix_limit(SocketType::DGRAM, setup),
    execute: worker::execute::<UnixDgram>,
    ..Mechanism::BASE
};

struct UnixDgram;

impl Channel for UnixDgram {
    type End = SocketEnd<true>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        unix_pair(SocketType::DGRAM, setup)
    }
}
