//! `iceoryx2-reqres`: request-response with iceoryx2.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PeerDeath, PeerWait, Unrelated,
};

use super::iceoryx_facts::{API, ICEORYX2, MODES, OWNER_ONLY, PAYLOAD};
use crate::channel::{Documentation, ManyPeers, Mechanism};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Facts about `iceoryx2-reqres`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "iceoryx2-reqres",
    about: "request-response of iceoryx2: shared memory, polling",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Memory,
    waits: PeerWait::Spins,
    payload: PAYLOAD,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::No(OWNER_ONLY),
    helper: Helper::None,
    many_peers: ManyPeers::TwoPeersOnly("ipcperf opens its service for two peers"),
    options: &[API],
    modes: &MODES,
    documentation: Documentation {
        how_it_works: "There is one iceoryx2 service with one client, which is the sender, and one \
            server, which is the receiver. Requests and responses are slices of bytes. Requests \
            are in the shared memory of the client, and responses are in the shared memory of the \
            server. Both are sent like the samples of iceoryx2-pubsub. The server keeps a request \
            until it has sent the response, and then releases the request. In a stream, the server \
            does not answer requests (fire-and-forget). As soon as the client has sent a request, \
            it informs the library that it expects no response. The server receives the request \
            and releases it. At most 8 requests are in flight. If the server's queue is full, the \
            client waits as a publisher does in iceoryx2-pubsub. api=copy and api=loan have the \
            same meaning as in iceoryx2-pubsub; an echo is copied from the request to the \
            response. A waiting peer polls as in iceoryx2-pubsub.",
        message_boundaries: "Kept: each request and each response contains one message.",
        minimum_kernel: "Any, with a tmpfs at /dev/shm. On Linux 5.14 and newer, the memory is \
            populated before the clock starts.",
        defaults_that_matter: "As with iceoryx2-pubsub, safe overflow is off, so requests and \
            responses are never overwritten. ipcperf does not use the event service. There is room \
            for only one client, one server and two nodes. All names are private to the run. The \
            library makes the system calls itself, so ipcperf does not count them. --kernel-buffer \
            does not apply. The library has memory for twice as many requests as may be in flight, \
            plus one request that is being composed. In a stream, at most 8 requests are in \
            flight, so there is memory for 17 requests. If each request is answered, at most one \
            request is in flight, so there is memory for three requests. In this case, there is \
            also memory for six responses. Each of these requests and responses has room for the \
            largest message. The library also allocates memory for each request that the server \
            receives.",
        references: &[
            "[iceoryx2](https://docs.rs/iceoryx2)",
            "[on polling, and on its events](https://github.com/eclipse-iceoryx/iceoryx2/discussions/1222)",
            "man:shm_overview(7)",
            "man:sched_yield(2)",
        ],
    },
    library: Some(ICEORYX2),
    ..endpoint::IMPLEMENTATION
};
