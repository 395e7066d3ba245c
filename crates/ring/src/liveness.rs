//! Detects that the other side's process has ended, for whatever reason.
//!
//! Each side holds one end of a socket pair on which nothing is ever sent. When a process dies, at whatever
//! instruction, the kernel closes its descriptors, and the other end hangs up.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// One end of the pair.
#[derive(Debug)]
pub(crate) struct Lifeline(OwnedFd);

/// Both ends.
pub(crate) fn lifelines() -> io::Result<(Lifeline, Lifeline)> {
    let (one, other) = UnixStream::pair()?;
    Ok((Lifeline(one.into()), Lifeline(other.into())))
}

impl From<OwnedFd> for Lifeline {
    fn from(end: OwnedFd) -> Self {
        Self(end)
    }
}

impl From<Lifeline> for OwnedFd {
    fn from(end: Lifeline) -> Self {
        end.0
    }
}

impl Lifeline {
    /// Whether no process holds the other end any more. Makes one system call.
    pub(crate) fn is_cut(&self) -> bool {
        let mut ends = [PollFd::new(&self.0, PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut ends, Some(&at_once)).is_ok() && ends[0].revents().contains(PollFlags::HUP)
    }
}
