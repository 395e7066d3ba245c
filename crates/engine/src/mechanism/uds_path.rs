//! Where mechanisms made of a library meet: the path of a Unix domain socket.

use std::os::unix::net::UnixListener;
use std::path::Path;

use ipcperf_model::{Failure, FailureKind};
use rustix::io::Errno;

use super::refusal::refused;
use super::run_dir;
use crate::channel::Setup;

/// The path of a socket in a folder that lasts as long as the run.
pub(super) fn path_in_folder(setup: &Setup<'_>) -> Result<&'static str, Failure> {
    // There is but one name.
    let [path, _] = &run_dir::make(setup, ["socket", "socket"])?.names;
    path.to_str().map_err(|_| {
        refused("naming the socket", Errno::ILSEQ).with_remedy("set TMPDIR to a path in UTF-8")
    })
}

/// A socket that listens at `path`.
pub(super) fn listen_at(path: &Path) -> Result<UnixListener, Failure> {
    UnixListener::bind(path).map_err(|error| match Errno::from_io_error(&error) {
        Some(errno) => refused("bind", errno),
        // Said by the standard library, not the system.
        None => Failure::new(FailureKind::SetUp, "the socket's path exceeds 107 bytes")
            .with_remedy("set TMPDIR to a shorter path"),
    })
}
