//! `dbus-memfd`: D-Bus messages that carry a memfd with the payload.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};

use super::dbus::{MODES, VIA, ZBUS};
use crate::channel::{Documentation, ManyPeers, Mechanism, OptionSpec, OptionValues};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Option that selects new or reused memfds.
const MEMFD: OptionSpec = OptionSpec {
    name: "memfd",
    about: "fresh: a new memfd for each message; reused: several memfds in rotation, with \
        acknowledgment",
    values: OptionValues::OneOf(&["fresh", "reused"]),
    default: "reused",
};

/// Option that selects how the receiver accesses a memfd.
const MAP: OptionSpec = OptionSpec {
    name: "map",
    about: "each: map the memfd of every message; cached: keep the mappings of reused memfds",
    values: OptionValues::OneOf(&["each", "cached"]),
    default: "cached",
};

/// Facts about `dbus-memfd`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "dbus-memfd",
    about: "D-Bus method call that carries a sealed memfd (zbus)",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::ErrorOnSend,
    unrelated: Unrelated::Yes,
    helper: Helper::Broker,
    many_peers: ManyPeers::TwoPeersOnly("ipcperf connects two peers to its bus"),
    options: &[VIA, MEMFD, MAP],
    modes: &MODES,
    documentation: Documentation {
        how_it_works: "This mechanism works like dbus-copy, but the payload is not in the body of \
            the method call. Instead, the sender copies the message into a memfd. The body of the \
            method call contains the memfd's descriptor, the length of the message, and the number \
            of the memfd (D-Bus signature `htu`). The receiver maps the memfd and copies the \
            message out into its own memory. A daemon or broker forwards the descriptor and never \
            reads the payload.\n\n\
            - memfd=fresh: for each message, the sender creates a memfd, writes the message into \
            it and seals it against any change.\n\
            - memfd=reused: the sender keeps as many memfds mapped as method calls may be in \
            flight, and uses them in rotation. The replies show the sender which memfds are free \
            again.\n\
            - map=each: the receiver maps the memfd of every message.\n\
            - map=cached: the receiver keeps the mapping of each reused memfd and recognizes the \
            memfd by its number. With memfd=fresh, there is nothing to keep, and map=cached is the \
            same as map=each.",
        message_boundaries: "Kept: each method call carries one memfd, which contains one message.",
        minimum_kernel: "Linux 3.17 (memfd_create). On Linux 5.1 and newer, reused memfds also \
            have the seal F_SEAL_FUTURE_WRITE. via=daemon needs dbus-daemon, and via=broker needs \
            dbus-broker 32 or newer.",
        defaults_that_matter: "A reused memfd is sealed with F_SEAL_SHRINK, F_SEAL_GROW and \
            F_SEAL_FUTURE_WRITE. The memfd therefore cannot shrink, so the receiver cannot get \
            SIGBUS when it reads the mapping. The receiver also cannot write to the memfd. The \
            sender can still change the memfd through the mapping that it made before sealing, so \
            the receiver copies the message. (kdbus was a D-Bus transport inside the kernel. Its \
            seal also prevented changes by the sender.) zbus duplicates the descriptor for each \
            message. The library makes the system calls itself, so ipcperf does not count them. \
            --kernel-buffer does not apply.",
        references: &[
            "[D-Bus specification](https://dbus.freedesktop.org/doc/dbus-specification.html)",
            "man:memfd_create(2)",
            "man:fcntl(2), F_ADD_SEALS",
            "[zbus](https://docs.rs/zbus)",
        ],
    },
    library: Some(ZBUS),
    ..endpoint::IMPLEMENTATION
};
