//! `unix-dgram`: a pair of connected Unix domain datagram sockets.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};
use ipcperf_model::{Failure, Mode, Role};
use rustix::io::Errno;
use rustix::net::{SocketType, bind, connect};

use super::meeting_socket::{discard_received, exchange_secrets, new_socket, path_address};
use super::setup_failure::setup_failure;
use super::socket::{SocketEnd, own_endpoint, unix_limit, unix_pair};
use super::waiting::{self, AnyWait, WAIT, WAITS};
use crate::channel::{
    Channel, Documentation, Granted, MULTIPLEX, ManyPeers, Mechanism, Meet, Meeting, Opened, Setup,
};

/// Facts about `unix-dgram`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "unix-dgram",
    about: "Unix domain datagram socket",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::ErrorOnSend,
    unrelated: Unrelated::Yes,
    helper: Helper::None,
    many_peers: ManyPeers::Multiplexed,
    options: &[WAIT, MULTIPLEX],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "Each send appends one socket buffer (skb) to the receiver's queue, and each receive removes \
            one. When the send buffer is full (its size is SO_SNDBUF), the sender sleeps until at most a quarter \
            of the buffer is in use. Unlike datagrams over a network, these datagrams always arrive, and in order. \
            ipcperf makes the sockets with socketpair. In mode 2exec, each peer binds its socket to a path and connects \
            it to the path of the other one. From then on, the kernel refuses the datagrams of other senders.",
        message_boundaries: "Kept: each receive returns one message.",
        minimum_kernel: "Any.",
        defaults_that_matter: "The largest message is 32 bytes smaller than SO_SNDBUF (212992 \
            bytes). SO_SNDBUF alone limits how many messages wait in the queue: \
            net.unix.max_dgram_qlen does not apply to two sockets that are connected to each \
            other.",
        references: &["man:unix(7)", "man:socketpair(2)", "man:connect(2)", "man:socket(7)"],
    },
    limit: |setup| unix_limit(SocketType::DGRAM, setup),
    execute: waiting::execute::<UnixDgram, AnyWait>,
    meet: Some(waiting::meet::<UnixDgram, AnyWait>),
    ..Mechanism::BASE
};

struct UnixDgram;

impl Channel for UnixDgram {
    type End = SocketEnd<true>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        unix_pair(SocketType::DGRAM, setup)
    }
}

impl Meet for UnixDgram {
    /// No other user can send to a socket in the folder unless peers of other users are expected. What others have sent before
    /// the socket was connected is discarded: the peer sends its first message once both programs have met.
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(Self::End, Granted), Failure> {
        let [own, other] = match meeting.role() {
            Role::Receiver => ["receiver", "sender"],
            _ => ["sender", "receiver"],
        }
        .map(|name| meeting.socket_path(name));
        let (address, shown) = (path_address(&other)?, other.display().to_string());
        let socket = new_socket(SocketType::DGRAM)?;
        bind(&socket, &path_address(&own)?).map_err(|e| setup_failure("bind", e))?;
        let is_early = |errno| matches!(errno, Errno::NOENT | Errno::CONNREFUSED | Errno::INTR);
        meeting
            .retry(&format!("connecting to {shown}"), is_early, || connect(&socket, &address))?;
        exchange_secrets(&socket, &shown, meeting)?;
        discard_received(&socket);
        own_endpoint(socket, setup)
    }
}
