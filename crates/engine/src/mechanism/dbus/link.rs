//! The two sockets of a conversation, connected before the fork.

use std::os::unix::net::UnixStream;
use std::path::Path;

use ipcperf_model::{Failure, FailureKind};

/// What is open before the parties part.
#[derive(Debug)]
pub(super) struct Link {
    /// The sender's socket and the receiver's.
    pub(super) sockets: [UnixStream; 2],
    /// Who each is on it.
    pub(super) seats: [Seat; 2],
    /// The process between them.
    pub(super) broker: Option<u32>,
}

/// Who an end is to the one at the other end of its socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seat {
    /// Speaks to a bus, and by it to the receiver.
    Caller,
    /// Speaks to a bus, on which it has the receiver's name.
    Callee,
    /// Speaks to the receiver.
    PeerCaller,
    /// Is spoken to by the sender, and plays the server's part in the handshake.
    PeerCallee,
}

/// Connects both parties to the bus at `path`, which process `broker` keeps.
pub(super) fn to_bus(path: &Path, broker: u32) -> Result<Link, Failure> {
    let connect = || UnixStream::connect(path).map_err(|error| failed("connect", &error));
    Ok(Link {
        sockets: [connect()?, connect()?],
        seats: [Seat::Caller, Seat::Callee],
        broker: Some(broker),
    })
}

/// A step of setting up that the system refused.
pub(super) fn failed(step: &str, error: &std::io::Error) -> Failure {
    let failure = Failure::new(FailureKind::SetUp, step);
    match error.raw_os_error() {
        Some(number) => Failure { errno: Some(number), ..failure },
        // Said by the standard library, not the system: a path that is too long for a socket.
        None => Failure::new(FailureKind::SetUp, format!("{step}: {error}"))
            .with_remedy("set TMPDIR to a shorter path"),
    }
}
