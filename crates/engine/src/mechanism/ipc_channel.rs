//! `ipc-channel`: two of Servo's channels, one in each direction.

use ipc_channel::IpcError;
use ipc_channel::ipc::{IpcBytesReceiver, IpcBytesSender, bytes_channel};
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, Library, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::io::Errno;

use super::refusal::refused;
use crate::channel::{Channel, Documentation, Endpoint, Granted, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `ipc-channel`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "ipc-channel",
    about: "Servo's channel of bytes between processes, one in each direction (ipc-channel)",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::Told,
    unrelated: Unrelated::No("the socket that it meets at lies in a folder of its user's alone"),
    helper: Helper::Nobody,
    modes: &[Mode::TwoThreads, Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "ipc::bytes_channel: a pair of Unix domain sequenced-packet sockets, on which a \
            message is one packet with its length in front. What exceeds the socket's send buffer goes \
            in pieces: the first takes the descriptor of a socket with it that is made for this message \
            alone, and the others come by that. The bytes are sent from where they lie (sendmsg); the \
            receiver gets them in memory that the library allocates for each message, room for the \
            largest packet at least, and reads them there: no further copy is made. An echo is sent from \
            there. Both channels are made before the fork, where unrelated programs would meet by the \
            library's one-shot server.",
        message_boundaries: "Kept: one send, one receive, one message.",
        minimum_kernel: "Any.",
        defaults_that_matter: "Bytes as they are (IpcBytesSender), not values that serde writes \
            (IpcSender). Packets are as large as the send buffer that a new socket has \
            (net.core.wmem_default, 208 KiB mostly); --kernel-buffer does not apply. A party that is in \
            the middle of a message of several packets when its peer dies is not told: it holds both \
            ends of the socket that was made for it. Calls of the system are the library's, and not \
            counted.",
        references: &["[ipc-channel](https://docs.rs/ipc-channel)", "man:unix(7)"],
    },
    holds: |_| 2,
    library: Some(Library {
        name: "ipc-channel",
        version: env!("VERSION_OF_IPC_CHANNEL"),
        licence: "MIT OR Apache-2.0",
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
                refused("socketpair(AF_UNIX)", Errno::from_io_error(&error).unwrap_or(Errno::IO))
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
