//! `unix-seqpacket`: a pair of connected Unix domain sequenced-packet sockets.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};
use ipcperf_model::{Failure, Mode, Unavailable};
use rustix::net::SocketType;

use super::meeting_socket::meet_at_path;
use super::socket::{SocketEnd, own_endpoint, unix_limit, unix_pair};
use super::waiting::{self, AnyWait, WAIT, WAITS};
use crate::channel::{
    Channel, Documentation, Granted, MULTIPLEX, ManyPeers, Mechanism, Meet, Meeting, Opened, Setup,
};
use crate::platform::needs;

/// Facts about `unix-seqpacket`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "unix-seqpacket",
    about: "Unix domain seqpacket socket",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::Yes,
    helper: Helper::None,
    many_peers: ManyPeers::Multiplexed,
    options: &[WAIT, MULTIPLEX],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "The sockets are connected, as with unix-stream. The connection carries \
            messages, as with unix-dgram. Each receive returns the bytes of one send. If the other \
            peer is gone, the receiver gets end of file. ipcperf makes the sockets with socketpair. In \
            mode 2exec, the receiver listens at a path and the sender connects.",
        message_boundaries: "Kept: each receive returns one message.",
        minimum_kernel: "Linux 2.6.4.",
        defaults_that_matter: "The largest message is 32 bytes smaller than SO_SNDBUF (212992 \
            bytes). SO_SNDBUF also limits how many bytes wait in the queue.",
        references: &["man:unix(7)", "man:socketpair(2)", "man:connect(2)"],
    },
    availability: available,
    limit: |setup| unix_limit(SocketType::SEQPACKET, setup),
    execute: waiting::execute::<UnixSeqpacket, AnyWait>,
    meet: Some(waiting::meet::<UnixSeqpacket, AnyWait>),
    ..Mechanism::BASE
};

/// Checks that the system has sockets of this type.
fn available() -> Result<(), Unavailable> {
    if cfg!(target_os = "macos") { Err(needs("Linux or FreeBSD")) } else { Ok(()) }
}

struct UnixSeqpacket;

impl Channel for UnixSeqpacket {
    type End = SocketEnd<true>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        unix_pair(SocketType::SEQPACKET, setup)
    }
}

impl Meet for UnixSeqpacket {
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(Self::End, Granted), Failure> {
        own_endpoint(meet_at_path(SocketType::SEQPACKET, "socket", meeting)?, setup)
    }
}
