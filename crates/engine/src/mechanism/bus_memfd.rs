//! `bus-memfd`: passes a sealed memfd through a socket; the receiver maps it and reads it in place.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};

use super::shared_options::METADATA;
use crate::channel::{Documentation, Mechanism, OptionSpec, OptionValues};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Option that selects new or reused memfds.
const MEMFD: OptionSpec = OptionSpec {
    name: "memfd",
    about: "fresh: a new memfd for each message; reused: always the same eight memfds",
    values: OptionValues::OneOf(&["fresh", "reused"]),
    default: "reused",
};

/// Option that selects how the receiver accesses a memfd.
const MAP: OptionSpec = OptionSpec {
    name: "map",
    about: "each: map the memfd of every message; cached: keep the mappings of reused memfds",
    values: OptionValues::OneOf(&["each", "cached"]),
    default: "each",
};

/// Facts about `bus-memfd`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "bus-memfd",
    about: "like kdbus: receiver reads a sealed memfd in place",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::SharedMemoryWithDoorbell,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::HandedOver,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::None,
    options: &[MEMFD, MAP, METADATA],
    modes: &[Mode::TwoThreads, Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "kdbus was a D-Bus transport inside the kernel, which either copied messages \
            or passed them in memfds. This mechanism transfers messages as kdbus did when it \
            passed memfds, but needs no kernel module. The sender composes the message in a memfd \
            that it has mapped. It passes the memfd's descriptor with a notice of 40 bytes through \
            a Unix domain sequenced-packet socket. The receiver maps the memfd, reads the message \
            in place, unmaps the memfd and closes the descriptor. Another notice then reports to \
            the sender that the memfd is free, in the same way as a notice returns a slot in \
            bus-copy. Nothing is copied. If no peer touches the payload, the cost of a message \
            therefore does not depend on its size. With --reply echo, the receiver passes the same \
            memfd back. The sender makes these calls for each message:\n\n\
            - memfd=fresh: memfd_create, ftruncate, fcntl (to seal the size) and mmap before it \
            composes the message, and munmap, fcntl (to seal the memfd against any change), \
            sendmsg and close afterwards.\n\
            - memfd=reused: only sendmsg.",
        message_boundaries: "Kept: each notice announces one memfd, which contains one message.",
        minimum_kernel: "Linux 3.17 (memfd_create). On Linux 5.1 and newer, reused memfds also \
            have the seal F_SEAL_FUTURE_WRITE.",
        defaults_that_matter: "A reused memfd is sealed with F_SEAL_SHRINK, F_SEAL_GROW and \
            F_SEAL_FUTURE_WRITE. The receiver cannot write to the memfd. The sender can still \
            write to it through the mapping that it made before sealing. (The seal of kdbus also \
            prevented changes by the sender.) With map=each, the receiver takes page faults when \
            it reads a new mapping. With map=cached, the receiver keeps the mapping of each reused \
            memfd and recognizes the memfd by a number in the notice. With memfd=fresh, there is \
            nothing to keep: the receiver maps each memfd, whatever the value of map. The payload \
            is handed over in place, so neither peer has to access its bytes. Bandwidth is \
            therefore meaningful only with --touch both. --kernel-buffer does not apply.",
        references: &[
            "man:memfd_create(2)",
            "man:fcntl(2), F_ADD_SEALS",
            "man:unix(7)",
            "the documentation of kdbus: kdbus.message(7)",
        ],
    },
    ..endpoint::IMPLEMENTATION
};
