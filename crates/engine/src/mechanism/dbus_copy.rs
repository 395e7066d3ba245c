//! `dbus-copy`: D-Bus messages that contain the payload.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};

use super::dbus::{MODES, VIA, ZBUS};
use crate::channel::{Documentation, ManyPeers, Mechanism};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Facts about `dbus-copy`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "dbus-copy",
    about: "D-Bus method call with the payload in its body (zbus)",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::ErrorOnSend,
    unrelated: Unrelated::Yes,
    helper: Helper::Broker,
    many_peers: ManyPeers::TwoPeersOnly("ipcperf connects two peers to its bus"),
    options: &[VIA],
    modes: &MODES,
    documentation: Documentation {
        how_it_works: "The payload is an array of bytes (`ay`) in the body of a method call. The crate zbus builds, \
            sends and reads the messages. Each peer runs zbus on its own thread (tokio, one thread). The option via \
            selects what forwards the messages:\n\n\
            - via=daemon and via=broker: ipcperf starts a dbus-daemon or a dbus-broker for the run. The daemon or \
            broker listens on a private socket and runs on the peers' CPUs. ipcperf sets the limits of the \
            daemon or broker so high that they never take effect. The daemon or broker reads each message completely before it \
            forwards the message. ipcperf reports the CPU time of either program for the role broker.\n\
            - via=peer: nothing forwards the messages; a socketpair connects the peers directly.\n\n\
            In a round trip, the method return carries the reply. In a stream, ipcperf limits the number of method \
            calls in flight, because the daemon and the library would queue any number of calls. The limit N is 16. \
            With large messages, it is smaller: as many messages as fit into 64 MiB, rounded down to an even number, \
            but at least two. Every (N/2)-th method call requests an empty reply, which shows that all messages so \
            far have arrived. The other method calls request no reply.",
        message_boundaries: "Kept: each method call carries one message.",
        minimum_kernel: "Any. via=daemon needs dbus-daemon, and via=broker needs dbus-broker 32 or \
            newer.",
        defaults_that_matter: "For each message, zbus allocates and clears memory. It reads the \
            first 16 bytes of the message into this memory, and then the rest. The measured time \
            includes the allocation. The library makes the system calls itself, so ipcperf does \
            not count them. A daemon reports the death of the receiver only to a caller that waits \
            for a reply. With via=peer, each peer notices the death of the other peer. \
            --kernel-buffer does not apply.",
        references: &[
            "[D-Bus specification](https://dbus.freedesktop.org/doc/dbus-specification.html)",
            "man:dbus-daemon(1)",
            "[dbus-broker](https://github.com/bus1/dbus-broker)",
            "[zbus](https://docs.rs/zbus)",
        ],
    },
    library: Some(ZBUS),
    ..endpoint::IMPLEMENTATION
};
