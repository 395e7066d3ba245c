//! `nng`: a pair of NNG's pair0 sockets. Building the library needs cmake, which is not installed everywhere,
//! so it is an optional feature.

#[cfg(feature = "nng")]
mod endpoint;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, Library, PayloadPath, PayloadTransfer, PeerDeath, PeerWait,
    Unrelated,
};
use ipcperf_model::{Mode, RunSpec, WorkerReport};

use super::feature::Feature;
use crate::channel::{Documentation, Mechanism};

const FEATURE: Feature =
    Feature { name: "nng", is_built_in: cfg!(feature = "nng"), needs: "cmake" };

/// Facts about `nng`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "nng",
    about: "NNG (nanomsg next generation) pair over a Unix socket",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::Yes,
    helper: Helper::LibraryThreads,
    modes: &[Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "nng_send copies the message into memory of the library and passes it to \
            threads that the library runs in each peer's process, on the peer's CPU: some for \
            tasks, some that wait for the connection, a Unix domain stream socket. nng_recv copies \
            the message out. The usage of these threads counts as the peer's, as in zeromq, and \
            for the same reason there is no mode 2thread. The library and its sockets are set up \
            after the fork, and the peers exchange one empty message before the clock starts.",
        message_boundaries: "Kept: one send, one receive, one message.",
        minimum_kernel: "Any. Included only in builds with the feature nng, which needs cmake: \
            cargo build --release --features nng.",
        defaults_that_matter: "Only messages in flight are queued (NNG_OPT_SENDBUF and \
            NNG_OPT_RECVBUF are 0): a sender waits until its message has been taken. The maximum \
            size of a received message (NNG_OPT_RECVMAXSZ) is lifted. The death of a peer is not \
            reported: the library reconnects. The library makes the system calls, which are not \
            counted. --kernel-buffer does not apply.",
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

#[cfg(feature = "nng")]
fn execute(spec: &RunSpec, mechanism: &Mechanism<'_>) -> WorkerReport {
    let report = crate::worker::execute::<endpoint::Nng>(spec, mechanism);
    crate::mechanism::run_dir::remove();
    report
}

#[cfg(not(feature = "nng"))]
fn execute(_: &RunSpec, _: &Mechanism<'_>) -> WorkerReport {
    FEATURE.refuse()
}
