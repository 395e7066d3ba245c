//! Paths of Unix domain sockets, at which mechanisms based on a library connect.

#[cfg(any(feature = "grpc", feature = "zeromq"))]
use std::os::unix::net::UnixListener;
#[cfg(any(feature = "grpc", feature = "zeromq"))]
use std::path::Path;

use ipcperf_model::Failure;
#[cfg(any(feature = "grpc", feature = "zeromq"))]
use ipcperf_model::FailureKind;
use rustix::io::Errno;

#[cfg(any(feature = "nng", feature = "zeromq"))]
use super::run_dir;
use super::setup_failure::setup_failure;
#[cfg(any(feature = "nng", feature = "zeromq"))]
use crate::channel::Setup;

/// Returns the path of a socket in a folder that exists as long as the run.
#[cfg(any(feature = "nng", feature = "zeromq"))]
pub(super) fn run_dir_socket_path(setup: &Setup<'_>) -> Result<&'static str, Failure> {
    // Only one name is needed.
    let [path, _] = &run_dir::create(setup, ["socket", "socket"])?.names;
    path.to_str().map_err(|_| {
        setup_failure("naming the socket", Errno::ILSEQ)
            .with_remedy("set TMPDIR to a path in UTF-8")
    })
}

/// Creates a socket that listens at `path`.
#[cfg(any(feature = "grpc", feature = "zeromq"))]
pub(super) fn listen_at(path: &Path) -> Result<UnixListener, Failure> {
    UnixListener::bind(path).map_err(|error| match Errno::from_io_error(&error) {
        Some(errno) => setup_failure("bind", errno),
        // The standard library, not the system, reports this.
        None => Failure::new(FailureKind::SetUp, "the socket's path exceeds 107 bytes")
            .with_remedy("set TMPDIR to a shorter path"),
    })
}
