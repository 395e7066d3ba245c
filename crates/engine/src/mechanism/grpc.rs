//! `grpc`: gRPC calls over a Unix domain socket (tonic). The library takes long to compile, so it is an optional feature.

#[cfg(feature = "grpc")]
mod endpoint;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, Library, PayloadPath, PayloadTransfer, PeerDeath, PeerWait,
    Unrelated,
};
use ipcperf_model::{Mode, RunSpec, WorkerReport};

use super::feature::Feature;
use crate::channel::{Documentation, Limit, Mechanism, Setup};

const FEATURE: Feature = Feature { name: "grpc", is_built_in: cfg!(feature = "grpc"), needs: "" };

/// Facts about `grpc`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "grpc",
    about: "gRPC over a Unix socket: unary or streaming (tonic)",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::Yes,
    helper: Helper::None,
    modes: &[Mode::TwoThreads, Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "The crate tonic, on HTTP/2 (hyper), over one Unix domain stream socket; \
            sender and receiver are client and server. Each peer runs it on its own thread (tokio, \
            one thread). A round trip is a unary call, the usual way to use gRPC: a separate \
            HTTP/2 stream, with headers in both directions, and trailers. A stream is one call \
            with client streaming for the whole run: messages pass through a queue of 128 (for \
            large messages, as many as make 4 MiB, at least one) into its body; small messages \
            share a frame. The sender copies each message into its own memory, as tonic requires, \
            and tonic copies it into a frame. The receiver reads it where tonic stored it, and \
            sends an echo from there.",
        message_boundaries: "Kept: each message is preceded by its length.",
        minimum_kernel: "Any. Included only in builds with the feature grpc: \
            cargo build --release --features grpc.",
        defaults_that_matter: "The body of a message is the payload alone, written and read by a \
            codec of ipcperf: protobuf, which would add a tag and a length, is not involved. \
            Nothing is compressed. The maximum message size of tonic (4 MiB) is lifted. \
            Flow-control windows are hyper's defaults (1 to 2 MiB per stream), and a sender that \
            is ahead waits for them. There is no TLS. The library makes the system calls, which \
            are not counted. --kernel-buffer does not apply.",
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

#[cfg(feature = "grpc")]
fn execute(spec: &RunSpec, mechanism: &Mechanism<'_>) -> WorkerReport {
    crate::worker::execute::<endpoint::Grpc>(spec, mechanism)
}

#[cfg(not(feature = "grpc"))]
fn execute(_: &RunSpec, _: &Mechanism<'_>) -> WorkerReport {
    FEATURE.refuse()
}
