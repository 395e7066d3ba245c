//! The two sockets of a connection, connected before the fork.

use std::os::unix::net::UnixStream;
use std::path::Path;

use ipcperf_model::{Failure, FailureKind};

/// Resources that are open before the peers are separated.
#[derive(Debug)]
pub(super) struct DbusLink {
    /// Sockets of the sender and of the receiver.
    pub(super) sockets: [UnixStream; 2],
    /// Role of each peer on its socket.
    pub(super) roles: [DbusRole; 2],
    /// Process ID of the broker between them.
    pub(super) broker_pid: Option<u32>,
}

/// Role of an endpoint towards the other end of its socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DbusRole {
    /// Talks to a bus, and through it to the receiver.
    Caller,
    /// Talks to a bus, on which it owns the receiver's name.
    Callee,
    /// Talks to the receiver directly.
    PeerCaller,
    /// Is called by the sender directly, and acts as the server in the handshake.
    PeerCallee,
}

/// Connects both peers to the bus at `path`, which process `broker_pid` runs.
pub(super) fn connect_to_bus(path: &Path, broker: u32) -> Result<DbusLink, Failure> {
    let connect = || UnixStream::connect(path).map_err(|error| setup_io_failure("connect", &error));
    Ok(DbusLink {
        sockets: [connect()?, connect()?],
        roles: [DbusRole::Caller, DbusRole::Callee],
        broker_pid: Some(broker),
    })
}

/// Returns the failure of a setup step that the system refused.
pub(super) fn setup_io_failure(step: &str, error: &std::io::Error) -> Failure {
    let failure = Failure::new(FailureKind::SetUp, step);
    match error.raw_os_error() {
        Some(number) => Failure { errno: Some(number), ..failure },
        // The standard library, not the system, reports this: the path is too long for a socket.
        None => Failure::new(FailureKind::SetUp, format!("{step}: {error}"))
            .with_remedy("set TMPDIR to a shorter path"),
    }
}
