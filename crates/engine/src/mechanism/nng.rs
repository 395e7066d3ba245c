//! `nng`: a pair of NNG's pair0 sockets. Building the library needs cmake, which is not installed everywhere,
//! so it is an optional feature.

#[cfg(feature = "nng")]
mod endpoint;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, Library, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Mode, Report, RunSpec, Unavailable};

use crate::channel::{Documentation, Mechanism};

/// Facts about `nng`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "nng",
    about: "NNG (nanomsg, next generation): a pair of pair0 sockets over a Unix domain socket",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::NotTold,
    unrelated: Unrelated::Yes,
    helper: Helper::OwnThreads,
    modes: &[Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "nng_send copies the message into memory of the library's and hands it to threads \
            that the library has in each party's process, on the party's CPU: some for tasks, some that \
            wait for the connection, a Unix domain stream socket. nng_recv copies the message out. What \
            those threads use is counted as the role's, as with zeromq, and for the same reason there is \
            no mode 2thread. The library and its sockets come after the fork, and the parties exchange \
            one empty message before the clock starts.",
        message_boundaries: "Kept: one send, one receive, one message.",
        minimum_kernel: "Any. Built in with the feature nng alone, which needs cmake: cargo build \
            --release --features nng.",
        defaults_that_matter: "Nothing is queued but what is on its way (NNG_OPT_SENDBUF and RECVBUF are \
            0): a sender waits until its message was taken. The largest message that is received \
            (NNG_OPT_RECVMAXSZ) is lifted. The peer's death is told to nobody: the library connects \
            again. Calls of the system are the library's, and not counted. --kernel-buffer does not \
            apply.",
        references: &[
            "[nng_pair(7)](https://nng.nanomsg.org/man/tip/nng_pair.7.html)",
            "[nng_ipc(7)](https://nng.nanomsg.org/man/tip/nng_ipc.7.html)",
        ],
    },
    availability: built_in,
    holds: |_| 6,
    library: Some(Library { name: "NNG", version: env!("VERSION_OF_NNG_SYS"), licence: "MIT" }),
    execute,
    ..Mechanism::BASE
};

#[cfg(feature = "nng")]
#[allow(clippy::unnecessary_wraps, reason = "the type of Mechanism::availability")]
fn built_in() -> Result<(), Unavailable> {
    Ok(())
}

#[cfg(feature = "nng")]
fn execute(spec: &RunSpec, mechanism: &Mechanism<'_>) -> Report {
    let report = crate::worker::execute::<endpoint::Nng>(spec, mechanism);
    crate::mechanism::run_dir::remove();
    report
}

#[cfg(not(feature = "nng"))]
fn built_in() -> Result<(), Unavailable> {
    Err(Unavailable {
        reason: "this ipcperf was built without it".to_owned(),
        remedy: "cargo build --release --features nng, which needs cmake".to_owned(),
    })
}

#[cfg(not(feature = "nng"))]
fn execute(_: &RunSpec, _: &Mechanism<'_>) -> Report {
    let failure = ipcperf_model::Failure::new(
        ipcperf_model::FailureKind::SetUp,
        "ipcperf was built without nng",
    );
    Report::Failed(failure.with_remedy("cargo build --release --features nng, which needs cmake"))
}
