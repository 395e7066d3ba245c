//! Where mechanisms made of a library meet: a socket that listens before the parties part, so that
//! nobody need try again.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::io::Errno;

use super::descriptor::refused;
use super::{Setup, lasting};
use crate::{Failure, FailureKind};

/// What an end does to meet the other.
#[derive(Debug)]
pub(super) enum Meets {
    Connects,
    Listens(OwnedFd),
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

/// A socket that listens in a folder that lasts as long as the run, and its path.
pub(super) fn listen_in_folder(setup: &Setup<'_>) -> Result<(OwnedFd, &'static str), Failure> {
    // There is but one name.
    let [path, _] = &lasting::make(setup, ["socket", "socket"])?.names;
    let path = path.to_str().map_err(|_| {
        refused("naming the socket", Errno::ILSEQ).with_remedy("set TMPDIR to a path in UTF-8")
    })?;
    Ok((listen_at(path.as_ref())?.into(), path))
}
