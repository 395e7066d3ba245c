//! `iceoryx2-pubsub`: publish-subscribe with iceoryx2, one service in each direction.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PeerDeath, PeerWait, Unrelated,
};

use super::iceoryx_facts::{API, ICEORYX2, MODES, OWNER_ONLY, PAYLOAD};
use crate::channel::{Documentation, ManyPeers, Mechanism};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Facts about `iceoryx2-pubsub`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "iceoryx2-pubsub",
    about: "publish-subscribe of iceoryx2: shared memory, polling",
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
        how_it_works: "Each direction has one iceoryx2 service, with one publisher and one \
            subscriber. In iceoryx2, a sample is a slice of bytes that is sent as a whole. Each \
            sample contains one message. To send, a peer borrows (loans) a sample from its \
            publisher's shared memory, fills the sample and publishes it. The position of the \
            sample then goes through a lock-free queue, which is also in shared memory. The \
            subscriber reads the sample in place and returns it through a second queue.\n\n\
            - api=copy: the sender copies each message from its own buffer into a sample, and the \
            receiver copies it from the sample into its own buffer.\n\
            - api=loan: the peers compose and read messages directly in the samples, so nothing is \
            copied. The only exception is an echo, which is copied to another sample: a received \
            sample belongs to the publisher of the other peer and cannot be sent.\n\n\
            The library has no blocking receive, so a waiting peer polls. If the peers have \
            separate CPUs, the waiting peer executes a PAUSE instruction between two polls. \
            Otherwise, it calls sched_yield between two polls. The queue has room for 8 samples in \
            a stream, and for 1 sample in a round trip. If the queue is full, the publisher waits \
            (RetryUntilDelivered). It first polls 10000 times and calls sched_yield each time. It \
            then sleeps 100 times for 100 µs, and after that for 10 ms at a time.",
        message_boundaries: "Kept: each sample contains one message.",
        minimum_kernel: "Any, with a tmpfs at /dev/shm. On Linux 5.14 and newer, the memory is \
            populated before the clock starts.",
        defaults_that_matter: "ipcperf changes these defaults of the library:\n\n\
            - By default, a queue holds two samples, and a full queue overwrites its oldest sample \
            (safe overflow). ipcperf turns overflow off, because no message may be lost.\n\
            - By default, a service has room for 2 publishers, 8 subscribers and 20 nodes. (A node \
            is a process that takes part.) In ipcperf, it has room for one publisher, one \
            subscriber and two nodes.\n\
            - By default, the library counts nodes in a file (global_mgmt), which it makes \
            accessible to all users. In ipcperf, each process counts its own nodes.\n\n\
            The peers connect one after the other, because the library may lose a peer if both \
            connect at the same time. ipcperf does not use the library's event service, on which a \
            receiver could sleep, so a waiting peer keeps its CPU busy. Nothing checks for dead \
            nodes, so a peer does not notice that the other peer was killed. All names that the \
            library creates are private to the run. They are below TMPDIR and in /dev/shm. The \
            size of /dev/shm limits the size of messages. The library makes the system calls \
            itself, so ipcperf does not count them. There are no such calls if the peers have \
            separate CPUs and no queue is full. --kernel-buffer does not apply.",
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
