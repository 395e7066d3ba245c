//! `nng`: a pair of NNG's pair0 sockets. Building the library needs cmake, which is not installed everywhere,
//! so it is an optional feature.

#[cfg(all(feature = "nng", target_os = "linux"))]
mod endpoint;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, Library, PayloadPath, PayloadTransfer, PeerDeath, PeerWait,
    Unrelated,
};
use ipcperf_model::{Mode, RunSpec, WorkerReport};

use super::feature::Feature;
use crate::channel::{Documentation, ManyPeers, Mechanism};

const FEATURE: Feature =
    Feature { name: "nng", is_built_in: cfg!(feature = "nng"), needs: "cmake" };

/// Facts about `nng`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "nng",
    about: "NNG (nanomsg next generation) pair of Unix sockets",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::Yes,
    helper: Helper::LibraryThreads,
    many_peers: ManyPeers::TwoPeersOnly("ipcperf opens its socket path for two peers"),
    modes: &[Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "nng_send copies the message into memory of the library and passes it to the \
            library's threads. The library runs these threads in each peer's process, on the \
            peer's CPU. Some of the threads execute the library's tasks. Others wait until the \
            connection can be read or written. The connection is a Unix domain stream socket. \
            nng_recv copies the message out. As with zeromq, ipcperf attributes the resource usage \
            of these threads to the peer, and there is no mode 2thread. The library and its \
            sockets are set up after the fork. Before the clock starts, each peer sends the other \
            peer an empty message.",
        message_boundaries: "Kept: each receive returns one message.",
        minimum_kernel: "Any. Included only in builds with the feature nng, which needs cmake: \
            cargo build --release --features nng.",
        defaults_that_matter: "The library has no queues for messages (NNG_OPT_SENDBUF and \
            NNG_OPT_RECVBUF are 0), so a sender waits until the library can write its message to \
            the connection. The library's limit on the size of a received message \
            (NNG_OPT_RECVMAXSZ) is removed. The death of a peer is not reported: the library \
            reconnects. The library makes the system calls itself, so ipcperf does not count them. \
            --kernel-buffer does not apply.",
        references: &[
            "[nng_pair(7)](https://nng.nanomsg.org/man/tip/nng_pair.7.html)",
            "[nng_ipc(7)](https://nng.nanomsg.org/man/tip/nng_ipc.7.html)",
        ],
    },
    availability: || FEATURE.availability(),
    in_flight_messages: |_| 6,
    library: Some(Library { name: "NNG", version: env!("VERSION_OF_NNG_SYS"), license: "MIT" }),
    execute,
    ..Mechanism::BASE
};

#[cfg(all(feature = "nng", target_os = "linux"))]
fn execute(spec: &RunSpec, mechanism: &Mechanism<'_>) -> WorkerReport {
    let report = crate::worker::execute::<endpoint::Nng>(spec, mechanism);
    crate::mechanism::run_dir::remove();
    report
}

#[cfg(not(all(feature = "nng", target_os = "linux")))]
fn execute(_: &RunSpec, _: &Mechanism<'_>) -> WorkerReport {
    FEATURE.refuse()
}
