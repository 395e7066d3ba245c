//! Keeps descriptors 0 and 1 away from a library, which may read and print: the worker talks to the command
//! through them.

use std::fs::File;
use std::os::fd::AsRawFd;

use rustix::io::Errno;

use crate::platform::errno_result;
use crate::worker::{keep_streams, output};

/// Guard that discards standard output and empties standard input, for this process and the peers that it
/// forks. The worker's own streams are kept under other descriptors.
#[derive(Debug)]
pub(super) struct StdoutSilencer(());

impl StdoutSilencer {
    pub(super) fn new() -> Result<Self, Errno> {
        let null = File::options().read(true).write(true).open("/dev/null");
        let null = null.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        keep_streams()?;
        duplicate_to(null.as_raw_fd(), libc::STDIN_FILENO)?;
        duplicate_to(null.as_raw_fd(), libc::STDOUT_FILENO)?;
        Ok(Self(()))
    }
}

impl Drop for StdoutSilencer {
    fn drop(&mut self) {
        // SAFETY: a null pointer flushes all output streams of C. What they have buffered must not appear
        // later.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        // It was standard output before, so it can become standard output again.
        let _ = duplicate_to(output().as_raw_fd(), libc::STDOUT_FILENO);
    }
}

/// Makes descriptor `to` a duplicate of descriptor `from`.
fn duplicate_to(from: i32, to: i32) -> Result<(), Errno> {
    // SAFETY: `dup2` takes two numbers, and users of a standard stream see an open descriptor throughout.
    errno_result(unsafe { libc::dup2(from, to) }).map(drop)
}
