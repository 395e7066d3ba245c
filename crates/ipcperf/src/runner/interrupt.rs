//! Ctrl-C and its like, made into something that can be polled.

use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Signals that ask the command to end.
#[derive(Debug)]
pub(super) struct Interrupt {
    arrived: UnixStream,
}

impl Interrupt {
    /// From now on these signals end the command in an orderly way.
    pub(super) fn catch() -> std::io::Result<Self> {
        let (arrived, arrives) = UnixStream::pair()?;
        arrived.set_nonblocking(true)?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::low_level::pipe::register(signal, arrives.try_clone()?)?;
        }
        Ok(Self { arrived })
    }

    /// Readable once a signal has arrived.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.arrived.as_fd()
    }

    /// Whether one has arrived since this was last asked.
    pub(super) fn has_arrived(&mut self) -> bool {
        matches!(self.arrived.read(&mut [0; 16]), Ok(1..))
    }
}
