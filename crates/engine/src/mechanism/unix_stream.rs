//! `unix-stream`: a pair of connected Unix domain stream sockets.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::net::SocketType;

use super::readiness::{self, Poll, WAIT};
use super::socket::{SocketEnd, unix_pair};
use crate::channel::{Channel, Documentation, Mechanism, Opened, Setup};

/// Facts about `unix-stream`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "unix-stream",
    about: "Unix domain stream socket, made by socketpair",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::Told,
    unrelated: Unrelated::No("descriptors are inherited or passed on"),
    helper: Helper::Nobody,
    options: &[WAIT],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A write copies into socket buffers (skbs of up to 32 KiB and their pages) \
            that hang in the receiver's queue; a read copies out of them. The writer sleeps when \
            what is queued exceeds SO_SNDBUF. With wait=poll each read and each write is preceded by \
            a poll, on descriptors that do not wait: one call more for each.",
        message_boundaries: "None: a read returns what is queued, up to what it asked for, across \
            several writes.",
        minimum_kernel: "Any.",
        defaults_that_matter: "SO_SNDBUF is net.core.wmem_default (212992 bytes); it counts the \
            kernel's overhead too, so small writes fill it early. SO_RCVBUF has no effect.",
        references: &["man:unix(7)", "man:socketpair(2)", "man:socket(7)"],
    },
    execute: readiness::execute::<UnixStream, Poll>,
    ..Mechanism::BASE
};

struct UnixStream;

impl Channel for UnixStream {
    type End = SocketEnd<false>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        unix_pair(SocketType::STREAM, setup)
    }
}
