//! `ipc-channel`: two of Servo's channels, one in each direction.

use ipc_channel::IpcError;
use ipc_channel::ipc::{IpcBytesReceiver, IpcBytesSender, bytes_channel};
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, Library, PayloadPath, PayloadTransfer, PeerDeath, PeerWait,
    Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::io::Errno;

use super::setup_failure::setup_failure;
use crate::channel::{Channel, Documentation, Endpoint, Granted, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `ipc-channel`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "ipc-channel",
    about: "byte channel of Servo's crate ipc-channel",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::No(
        "its socket for connecting is in a folder that only its user can \
        access",
    ),
    helper: Helper::None,
    modes: &[Mode::TwoThreads, Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "ipc::bytes_channel creates a pair of Unix domain sequenced-packet sockets. \
            A message is one packet, preceded by its length. If a message is larger than the \
            socket's send buffer, it is sent in pieces. The first piece carries the descriptor of \
            a socket that is created for this message, and the other pieces follow through that \
            socket. sendmsg takes the bytes directly from the sender's buffer, without another \
            copy. The library allocates memory for each message that arrives, with room for at \
            least the largest packet. The receiver reads the message in this memory, without \
            another copy, and sends an echo from there. Both channels are created before the fork; \
            unrelated programs would connect through the library's one-shot server.",
        message_boundaries: "Kept: each receive returns one message.",
        minimum_kernel: "Any.",
        defaults_that_matter: "The channels carry raw bytes (IpcBytesSender), not values \
            serialized by serde (IpcSender). A packet has the size of the send buffer of a new \
            socket (net.core.wmem_default, usually 208 KiB). --kernel-buffer does not apply. If \
            the receiver dies while a message of several pieces is under way, the sender does not \
            notice, because it holds both ends of the socket that it created for the message. If \
            the sender dies, the receiver notices. The library makes the system calls itself, so \
            ipcperf does not count them.",
        references: &["[ipc-channel](https://docs.rs/ipc-channel)", "man:unix(7)"],
    },
    in_flight_messages: |_| 2,
    library: Some(Library {
        name: "ipc-channel",
        version: env!("VERSION_OF_IPC_CHANNEL"),
        license: "MIT OR Apache-2.0",
    }),
    execute: worker::execute::<IpcChannel>,
    ..Mechanism::BASE
};

struct IpcChannel;

impl Channel for IpcChannel {
    type End = IpcChannelEnd;

    fn open(_: &Setup<'_>) -> Result<Opened<IpcChannelEnd>, Failure> {
        let channel = || {
            bytes_channel().map_err(|error| {
                setup_failure(
                    "socketpair(AF_UNIX)",
                    Errno::from_io_error(&error).unwrap_or(Errno::IO),
                )
            })
        };
        let ((there, heard), (back, answered)) = (channel()?, channel()?);
        let end = |out, incoming| IpcChannelEnd { out, incoming, taken: Vec::new() };
        Ok(Opened {
            sender: end(there, answered),
            receiver: end(back, heard),
            granted: Granted::default(),
        })
    }
}

/// The sending end of one channel and the receiving end of the other.
#[derive(Debug)]
struct IpcChannelEnd {
    out: IpcBytesSender,
    incoming: IpcBytesReceiver,
    /// The message received last.
    taken: Vec<u8>,
}

impl Endpoint for IpcChannelEnd {
    const KEEPS_BOUNDARIES: bool = true;
    const COUNTS_CALLS: bool = false;
    const RECEIVES_IN_PLACE: bool = true;

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.out.send(bytes).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        Ok(bytes.len())
    }

    fn take(&mut self) -> Result<usize, Errno> {
        match self.incoming.recv() {
            Ok(message) => self.taken = message,
            Err(IpcError::Disconnected) => return Ok(0),
            Err(IpcError::Io(error)) => {
                return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO));
            }
            Err(IpcError::SerializationError(_)) => return Err(Errno::PROTO),
        }
        Ok(self.taken.len())
    }

    #[inline]
    fn taken(&self) -> &[u8] {
        &self.taken
    }

    fn release(&mut self) -> Result<(), Errno> {
        self.taken = Vec::new();
        Ok(())
    }

    fn send_taken(&mut self) -> Result<(), Errno> {
        let message = std::mem::take(&mut self.taken);
        self.send(&message).map(drop)
    }
}
