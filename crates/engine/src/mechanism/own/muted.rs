//! Silence on standard output, where a worker's report goes: a library may print there.

use std::fs::OpenOptions;
use std::io::stdout;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::io::{Errno, fcntl_dupfd_cloexec};

use crate::mechanism::sysv::outcome;

/// While this lives, what is printed to standard output is lost.
#[derive(Debug)]
pub(super) struct Muted {
    output: OwnedFd,
}

impl Muted {
    pub(super) fn new() -> Result<Self, Errno> {
        let null = OpenOptions::new().write(true).open("/dev/null");
        let null = null.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let output = fcntl_dupfd_cloexec(stdout().as_fd(), 3)?;
        become_output(&null)?;
        Ok(Self { output })
    }
}

impl Drop for Muted {
    fn drop(&mut self) {
        // SAFETY: null asks for all streams of C; what they hold back must not come out later.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        // It was the standard output before, and can be it again.
        let _ = become_output(&self.output);
    }
}

fn become_output(file: &impl AsRawFd) -> Result<(), Errno> {
    // SAFETY: it takes two numbers; what writes to standard output finds an open descriptor throughout.
    outcome(unsafe { libc::dup2(file.as_raw_fd(), libc::STDOUT_FILENO) }).map(drop)
}
