//! `zeromq`: a pair of ZeroMQ's PAIR sockets (libzmq). The library takes long to compile, so it is an optional feature.

#[cfg(all(feature = "zeromq", target_os = "linux"))]
mod endpoint;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, Library, PayloadPath, PayloadTransfer, PeerDeath, PeerWait,
    Unrelated,
};
use ipcperf_model::{Mode, RunSpec, WorkerReport};

use super::feature::Feature;
use crate::channel::{Documentation, ManyPeers, Mechanism, OptionSpec, OptionValues, Setup};

const FEATURE: Feature =
    Feature { name: "zeromq", is_built_in: cfg!(feature = "zeromq"), needs: "" };

/// Option that selects the transport.
const TRANSPORT: OptionSpec = OptionSpec {
    name: "transport",
    about: "transport of the sockets: a Unix domain stream socket, or TCP over loopback",
    values: OptionValues::OneOf(&["ipc", "tcp"]),
    default: "ipc",
};

/// Facts about `zeromq`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "zeromq",
    about: "ZeroMQ PAIR sockets over a Unix socket or TCP (libzmq)",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::Yes,
    helper: Helper::LibraryThreads,
    many_peers: ManyPeers::TwoPeersOnly("ipcperf opens its socket path for two peers"),
    options: &[TRANSPORT],
    modes: &[Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "libzmq is compiled from source and linked into ipcperf. It runs an I/O \
            thread in each peer's process, on the peer's CPU. Only this thread reads from and \
            writes to the connection. zmq_send copies the message into memory of libzmq, queues \
            it, and wakes the I/O thread if this thread sleeps. The sender's I/O thread combines \
            many small messages into one write. The receiver's I/O thread separates the messages \
            and queues them. zmq_recv copies the message out. ipcperf attributes the CPU time, \
            page faults and context switches of the whole process to the peer, so these values \
            include the I/O thread. Noise detection uses the same values. Time in which a peer \
            waits only because its own I/O thread uses the CPU does not count as run delay. There \
            is no mode 2thread: if both peers were in one process, ipcperf could not attribute the \
            I/O threads to the peers. (A program would use inproc:// between its threads anyway.) \
            libzmq's contexts and sockets are created after the fork. Before the clock starts, the \
            sender sends 16 random bytes, which the receiver knows. This shows the receiver that \
            no other process has connected. The receiver answers with an empty message.",
        message_boundaries: "Kept: each receive returns one message.",
        minimum_kernel: "Any. Included only in builds with the feature zeromq: \
            cargo build --release --features zeromq.",
        defaults_that_matter: "Each peer queues at most 1000 messages, which is libzmq's default. \
            If the messages are larger than 64 KiB, this maximum is smaller: as many messages as \
            fit into 64 MiB, but at least one. If the queue is full, the sender waits: PAIR \
            sockets do not drop messages. Each peer has one context with one I/O thread. If both \
            peers are on one CPU, four threads therefore share this CPU. The death of a peer is \
            not reported: libzmq tries to reconnect and meanwhile queues messages. With \
            transport=tcp, the kernel thread ksoftirqd may deliver some of the data. Its CPU time \
            is not counted, so more runs are marked as disturbed than with transport=ipc. The \
            option ZMQ_LINGER is 0, so libzmq drops unsent messages when a socket is closed. This \
            does not happen in ipcperf, because the peers close their sockets only after all \
            messages have arrived. The library makes the system calls itself, so ipcperf does not \
            count them. --kernel-buffer does not apply. libzmq has been licensed under MPL-2.0 \
            since version 4.3.5.",
        references: &[
            "[zmq_socket(3)](https://api.zeromq.org/4-3:zmq-socket)",
            "[zmq_ipc(7)](https://api.zeromq.org/4-3:zmq-ipc)",
            "[zmq_tcp(7)](https://api.zeromq.org/4-3:zmq-tcp)",
            "[the guide](https://zguide.zeromq.org)",
        ],
    },
    availability: || FEATURE.availability(),
    in_flight_messages: |setup| {
        if setup.workload.is_answered() { 4 } else { 2 * u64::from(high_water_mark(setup)) + 4 }
    },
    library: Some(Library {
        name: "libzmq",
        version: env!("VERSION_OF_ZEROMQ_SRC"),
        license: "MPL-2.0",
    }),
    execute,
    ..Mechanism::BASE
};

/// Maximum number of small messages queued on either side.
const MAX_QUEUED: u64 = 1000;
/// Maximum number of bytes queued on either side; one message is always allowed.
const MAX_QUEUED_BYTES: u64 = 64 << 20;

/// Returns the maximum number of messages queued on either side.
#[allow(clippy::cast_possible_truncation, reason = "1000 at most")]
fn high_water_mark(setup: &Setup<'_>) -> u16 {
    (MAX_QUEUED_BYTES / setup.buffer_bytes.max(1)).clamp(1, MAX_QUEUED) as u16
}

#[cfg(all(feature = "zeromq", target_os = "linux"))]
fn execute(spec: &RunSpec, mechanism: &Mechanism<'_>) -> WorkerReport {
    let report = crate::worker::execute::<endpoint::ZeroMq>(spec, mechanism);
    crate::mechanism::run_dir::remove();
    report
}

#[cfg(not(all(feature = "zeromq", target_os = "linux")))]
fn execute(_: &RunSpec, _: &Mechanism<'_>) -> WorkerReport {
    FEATURE.refuse()
}
