//! How a side learns that the process of the other is gone, however it went.
//!
//! Each side holds one end of a pair of sockets on which nothing is ever sent. The kernel closes what
//! a process held when it dies, by whatever instruction it was stopped, and the other end hangs up.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

/// One end of the pair.
#[derive(Debug)]
pub(crate) struct Lifeline(OwnedFd);

/// Both ends.
pub(crate) fn lifelines() -> io::Result<(Lifeline, Lifeline)> {
    let (one, other) =
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    Ok((Lifeline(one), Lifeline(other)))
}

impl Lifeline {
    /// Whether nobody holds the other end any more: one system call.
    pub(crate) fn is_cut(&self) -> bool {
        let mut ends = [PollFd::new(&self.0, PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut ends, Some(&at_once)).is_ok() && ends[0].revents().contains(PollFlags::HUP)
    }
}
