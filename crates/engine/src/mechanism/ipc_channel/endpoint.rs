//! Implementation of `ipc-channel`.

use ipc_channel::IpcError;
use ipc_channel::ipc::{IpcBytesReceiver, IpcBytesSender, bytes_channel};
use ipcperf_model::Failure;
use rustix::io::Errno;

use crate::channel::{Channel, Endpoint, Granted, Mechanism, Opened, Setup};
use crate::mechanism::setup_failure::setup_failure;
use crate::worker;

/// The part of `ipc-channel` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    in_flight_messages: |_| 2,
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

    #[inline]
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

    #[inline]
    fn release(&mut self) -> Result<(), Errno> {
        self.taken = Vec::new();
        Ok(())
    }

    #[inline]
    fn send_taken(&mut self) -> Result<(), Errno> {
        let message = std::mem::take(&mut self.taken);
        self.send(&message).map(drop)
    }
}
