//! Descriptors 0 and 1 kept from a library, which may read and print: the command speaks and listens there.

use std::fs::File;
use std::os::fd::AsRawFd;

use rustix::io::Errno;

use crate::mechanism::sysv::outcome;
use crate::worker::{keep_streams, output};

/// While this lives, what is printed to standard output is lost and standard input is empty, for this process and the
/// parties that it forks. The worker's own streams are kept elsewhere.
#[derive(Debug)]
pub(super) struct Muted(());

impl Muted {
    pub(super) fn new() -> Result<Self, Errno> {
        let null = File::options().read(true).write(true).open("/dev/null");
        let null = null.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        keep_streams()?;
        put(null.as_raw_fd(), libc::STDIN_FILENO)?;
        put(null.as_raw_fd(), libc::STDOUT_FILENO)?;
        Ok(Self(()))
    }
}

impl Drop for Muted {
    fn drop(&mut self) {
        // SAFETY: null asks for all streams of C; what they hold back must not come out later.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        // It was the standard output before, and can be it again.
        let _ = put(output().as_raw_fd(), libc::STDOUT_FILENO);
    }
}

/// Has the number `to` stand for what `from` stands for.
fn put(from: i32, to: i32) -> Result<(), Errno> {
    // SAFETY: it takes two numbers; what uses a standard stream finds an open descriptor throughout.
    outcome(unsafe { libc::dup2(from, to) }).map(drop)
}
