//! Waiting with a system call that sleeps until a descriptor is ready.

use std::os::fd::BorrowedFd;

use ipcperf_model::Failure;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::{Calls, Waiter, chosen};
use crate::channel::{Blocking, Descriptors, Endpoint, Setup};

/// System call that sleeps until a descriptor is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mechanism) enum Readiness {
    Poll,
    #[cfg(target_os = "linux")]
    Select,
}

impl Readiness {
    /// Sleeps until there is data to read or the other side is gone.
    #[inline]
    fn wait_readable(self, descriptor: BorrowedFd<'_>) -> Result<(), Errno> {
        match self {
            Self::Poll => {
                poll(&mut [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)], None).map(drop)
            }
            #[cfg(target_os = "linux")]
            Self::Select => super::select::wait_readable(descriptor),
        }
    }

    /// Sleeps until there is room to write or the other side is gone.
    #[inline]
    fn wait_writable(self, descriptor: BorrowedFd<'_>) -> Result<(), Errno> {
        match self {
            Self::Poll => {
                poll(&mut [PollFd::from_borrowed_fd(descriptor, PollFlags::OUT)], None).map(drop)
            }
            #[cfg(target_os = "linux")]
            Self::Select => super::select::wait_writable(descriptor),
        }
    }
}

impl<E: Endpoint> Waiter<E> for Readiness {
    fn new(setup: &Setup<'_>) -> Self {
        match chosen(setup) {
            #[cfg(target_os = "linux")]
            ipcperf_model::wait::Wait::Select => Self::Select,
            _ => Self::Poll,
        }
    }

    fn blocking(self) -> Blocking {
        Blocking::Try
    }

    fn prepare(self, _end: &mut E) -> Result<(), Failure> {
        Ok(())
    }

    #[inline]
    fn send(self, end: &mut E, bytes: &[u8], calls: &mut Calls) -> Result<usize, Errno> {
        let wait = |descriptors: Descriptors<'_>| self.wait_writable(descriptors.write);
        wait_and_transfer(end, calls, wait, |end| end.send(bytes))
    }

    #[inline]
    fn recv(self, end: &mut E, bytes: &mut [u8], calls: &mut Calls) -> Result<usize, Errno> {
        let wait = |descriptors: Descriptors<'_>| self.wait_readable(descriptors.read);
        wait_and_transfer(end, calls, wait, |end| end.recv(bytes))
    }
}

/// Waits, then transfers; repeats if the room or the data is gone by then.
#[inline]
fn wait_and_transfer<E: Endpoint>(
    end: &mut E,
    calls: &mut Calls,
    wait: impl Fn(Descriptors<'_>) -> Result<(), Errno>,
    mut transfer: impl FnMut(&mut E) -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    loop {
        calls.waits += 1;
        wait(end.descriptors().ok_or(Errno::OPNOTSUPP)?)?;
        calls.transfers += 1;
        match transfer(end) {
            Err(Errno::AGAIN) => {}
            moved => return moved,
        }
    }
}
