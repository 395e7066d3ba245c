//! `memfd-ref`: the payload in a memfd, whose descriptor is sent in a datagram.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};

use crate::channel::{Documentation, MULTIPLEX, ManyPeers, Mechanism, OptionSpec, OptionValues};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Option that selects new or reused memfds.
const MEMFD: OptionSpec = OptionSpec {
    name: "memfd",
    about: "fresh: a new memfd for each message; reused: four memfds in rotation, with \
        acknowledgment",
    values: OptionValues::OneOf(&["fresh", "reused"]),
    default: "reused",
};

/// Option that selects how the receiver accesses a memfd.
const MAP: OptionSpec = OptionSpec {
    name: "map",
    about: "how the receiver reads a memfd. each: map it for every message; cached: keep the \
        mapping; read: pread",
    values: OptionValues::OneOf(&["each", "cached", "read"]),
    default: "cached",
};

/// Facts about `memfd-ref`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "memfd-ref",
    about: "message in a sealed memfd, whose descriptor is sent",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::ErrorOnSend,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::None,
    many_peers: ManyPeers::Multiplexed,
    options: &[MEMFD, MAP, MULTIPLEX],
    modes: &Mode::INHERITED,
    documentation: Documentation {
        how_it_works: "The sender copies the message into a memfd and sends the memfd's descriptor \
            with a Unix domain datagram. The datagram has 16 bytes: the length of the message and \
            the number of the memfd. The receiver copies the message out of the memfd into its own \
            memory and closes the descriptor. The option memfd selects the calls of the sender, \
            and the option map selects the calls of the receiver:\n\n\
            - memfd=fresh: the sender creates a memfd for each message. It calls memfd_create, \
            write, fcntl (to seal the memfd against any change), sendmsg and close.\n\
            - memfd=reused: the sender keeps four memfds mapped and uses them in rotation. It \
            calls sendmsg for each message. The receiver acknowledges each message with one byte \
            on a second socket, which costs one more call (write). The sender reads the \
            acknowledgments only when all four memfds are in use.\n\
            - map=each: the receiver calls recvmsg, mmap, munmap and close.\n\
            - map=read: the receiver calls recvmsg, pread and close.\n\
            - map=cached: the receiver calls recvmsg and close. It keeps the mapping of each \
            reused memfd and recognizes the memfd by its number. With memfd=fresh, there is \
            nothing to keep, and map=cached is the same as map=each.",
        message_boundaries: "Kept: each datagram refers to one memfd, which contains one message.",
        minimum_kernel: "Linux 3.17 (memfd_create). On Linux 5.1 and newer, reused memfds also \
            have the seal F_SEAL_FUTURE_WRITE.",
        defaults_that_matter: "A reused memfd is sealed with F_SEAL_SHRINK, F_SEAL_GROW and \
            F_SEAL_FUTURE_WRITE. The memfd therefore cannot shrink, so the receiver cannot get \
            SIGBUS when it reads the mapping. The receiver also cannot write to the memfd. The \
            sender can still change the memfd through the mapping that it made before sealing, so \
            the receiver copies the message. (kdbus was a D-Bus transport inside the kernel. Its \
            seal also prevented changes by the sender.) If memfd=fresh is set and the receiver of \
            a stream lags, up to about 280 memfds exist at a time: one for each datagram that fits \
            into SO_SNDBUF. --kernel-buffer does not apply.",
        references: &["man:memfd_create(2)", "man:fcntl(2), F_ADD_SEALS", "man:unix(7)"],
    },
    ..endpoint::IMPLEMENTATION
};
