//! `grpc`: gRPC calls over a Unix domain socket (tonic). The library takes long to compile, so it is an optional feature.

#[cfg(all(feature = "grpc", target_os = "linux"))]
mod endpoint;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, Library, PayloadPath, PayloadTransfer, PeerDeath, PeerWait,
    Unrelated,
};
use ipcperf_model::{Mode, RunSpec, WorkerReport};

use super::feature::Feature;
use crate::channel::{Documentation, Limit, ManyPeers, Mechanism, Setup};

const FEATURE: Feature = Feature { name: "grpc", is_built_in: cfg!(feature = "grpc"), needs: "" };

/// Facts about `grpc`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "grpc",
    about: "unary or streaming gRPC over a Unix socket (tonic)",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::Yes,
    helper: Helper::None,
    many_peers: ManyPeers::TwoPeersOnly("ipcperf opens its socket path for two peers"),
    modes: &[Mode::TwoThreads, Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "The crate tonic makes gRPC calls on HTTP/2 (crate hyper) over one Unix \
            domain stream socket. The sender is the client, and the receiver is the server. Each \
            peer runs tonic on its own thread (tokio, one thread). A round trip is a unary call, \
            the usual way to use gRPC. Each unary call has a separate HTTP/2 stream, with headers \
            in both directions and with trailers. In the workload stream, one gRPC call with \
            client streaming lasts for the whole run. Messages pass through a queue into the body \
            of this call. The queue has room for as many messages as fit into 4 MiB, but for at \
            least 1 and at most 128. Small messages share an HTTP/2 frame. The sender copies each \
            message into newly allocated memory, as tonic requires, and tonic copies it into a \
            frame. The receiver reads the message where tonic stored it, and sends an echo from \
            there.",
        message_boundaries: "Kept: each message is preceded by its length.",
        minimum_kernel: "Any. Included only in builds with the feature grpc: \
            cargo build --release --features grpc.",
        defaults_that_matter: "The body of a gRPC message is the payload alone. A codec of ipcperf \
            writes and reads it. Protobuf, which would add a tag and a length, is not used. \
            Nothing is compressed. tonic's limit on the message size (4 MiB) is removed. \
            Flow-control windows have hyper's default sizes (1 to 2 MiB per stream). A sender \
            waits when the window is full. There is no TLS. The library makes the system calls \
            itself, so ipcperf does not count them. --kernel-buffer does not apply.",
        references: &[
            "[gRPC over HTTP/2](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md)",
            "[RFC 9113](https://www.rfc-editor.org/rfc/rfc9113)",
            "[tonic](https://docs.rs/tonic)",
        ],
    },
    availability: || FEATURE.availability(),
    limit: length_prefix_limit,
    in_flight_messages: |setup| {
        if setup.workload.is_answered() { 6 } else { max_queued(setup) as u64 + 6 }
    },
    library: Some(Library { name: "tonic", version: env!("VERSION_OF_TONIC"), license: "MIT" }),
    execute,
    ..Mechanism::BASE
};

#[allow(clippy::unnecessary_wraps, reason = "the type of Mechanism::limit")]
fn length_prefix_limit(_: &Setup<'_>) -> Option<Limit> {
    let reason = "the length field of a message has 4 bytes".to_owned();
    Some(Limit { bytes: u32::MAX.into(), reason })
}

/// Maximum number of small messages queued between a peer and the body of its call.
const MAX_QUEUED: u64 = 128;
/// Maximum number of bytes in that queue; one message is always allowed.
const MAX_QUEUED_BYTES: u64 = 4 << 20;

/// Returns the maximum number of messages queued between a peer and the body of its call.
#[allow(clippy::cast_possible_truncation, reason = "128 at most")]
fn max_queued(setup: &Setup<'_>) -> usize {
    (MAX_QUEUED_BYTES / setup.buffer_bytes.max(1)).clamp(1, MAX_QUEUED) as usize
}

#[cfg(all(feature = "grpc", target_os = "linux"))]
fn execute(spec: &RunSpec, mechanism: &Mechanism<'_>) -> WorkerReport {
    crate::worker::execute::<endpoint::Grpc>(spec, mechanism)
}

#[cfg(not(all(feature = "grpc", target_os = "linux")))]
fn execute(_: &RunSpec, _: &Mechanism<'_>) -> WorkerReport {
    FEATURE.refuse()
}
