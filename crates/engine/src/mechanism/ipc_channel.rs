//! `ipc-channel`: two of Servo's channels, one in each direction.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, Library, PayloadPath, PayloadTransfer, PeerDeath, PeerWait,
    Unrelated,
};

use crate::channel::{Documentation, Mechanism};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Facts about `ipc-channel`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "ipc-channel",
    about: "byte channel of Servo's Rust crate ipc-channel",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::No(
        "the socket to which a process would connect is in a folder that only the owner can access",
    ),
    helper: Helper::None,
    modes: &[Mode::TwoThreads, Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "Each direction has one channel. ipc::bytes_channel creates a channel as a \
            pair of Unix domain sequenced-packet sockets. A message is sent as one packet, which \
            starts with the length of the message. A message that is larger than the socket's send \
            buffer is sent in pieces. The first piece carries the descriptor of a socket that is \
            created for this message, and the other pieces follow through that socket. sendmsg \
            takes the bytes directly from the sender's buffer, without another copy. The library \
            allocates memory for each message that arrives, with room for at least the largest \
            packet. The receiver reads the message in this memory, without another copy, and sends \
            an echo from there. ipcperf creates both channels before the fork. Unrelated programs \
            would connect through the library's one-shot server.",
        message_boundaries: "Kept: each receive returns one message.",
        minimum_kernel: "Any.",
        defaults_that_matter: "The channels carry raw bytes (IpcBytesSender), not values \
            serialized by serde (IpcSender). A packet is at most as large as the send buffer of a \
            new socket (net.core.wmem_default, usually 208 KiB). --kernel-buffer does not apply. \
            If the receiver dies while a message of several pieces is under way, the sender does \
            not notice, because it holds both ends of the socket that it created for the message. \
            If the sender dies, the receiver notices. The library makes the system calls itself, \
            so ipcperf does not count them.",
        references: &["[ipc-channel](https://docs.rs/ipc-channel)", "man:unix(7)"],
    },
    library: Some(Library {
        name: "ipc-channel",
        version: env!("VERSION_OF_IPC_CHANNEL"),
        license: "MIT OR Apache-2.0",
    }),
    ..endpoint::IMPLEMENTATION
};
