//! Counts kept by the kernel: an eventfd, and the bytes in a pipe.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::{Errno, read, write};
use rustix::pipe::{PipeFlags, pipe_with};

use super::shared::QueueMemory;
use super::{Blocking, Count, SleepOutcome, liveness_timespec};

/// An eventfd from which each read takes one.
pub(super) struct EventfdCount(OwnedFd);

impl Count for EventfdCount {
    fn ends(_: &Arc<QueueMemory>, _: usize, initial: u32, _: Blocking) -> Result<[Self; 2], Errno> {
        let kind = EventfdFlags::SEMAPHORE | EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
        let one = eventfd(initial, kind)?;
        let other = rustix::io::fcntl_dupfd_cloexec(&one, 0)?;
        Ok([Self(one), Self(other)])
    }

    fn increment(&self, calls: &mut u64) -> Result<(), Errno> {
        *calls += 1;
        write(&self.0, &1_u64.to_ne_bytes()).map(drop)
    }

    fn try_decrement(&self, calls: &mut u64) -> Result<bool, Errno> {
        *calls += 1;
        match read(&self.0, &mut [0_u8; 8][..]) {
            Ok(_) => Ok(true),
            Err(Errno::AGAIN) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    fn sleep(&self, calls: &mut u64) -> Result<SleepOutcome, Errno> {
        *calls += 1;
        let slice = liveness_timespec(None);
        let slice = Timespec { tv_sec: slice.tv_sec, tv_nsec: slice.tv_nsec };
        let ready = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&slice))?;
        Ok(if ready == 0 { SleepOutcome::TimedOut } else { SleepOutcome::Woken })
    }
}

/// A pipe with one byte per count. End of file shows that the other side is gone.
pub(super) struct PipeCount {
    end: OwnedFd,
}

impl Count for PipeCount {
    fn ends(
        _: &Arc<QueueMemory>,
        _: usize,
        initial: u32,
        blocking: Blocking,
    ) -> Result<[Self; 2], Errno> {
        let (lowers, raises) = pipe_with(PipeFlags::CLOEXEC)?;
        for _ in 0..initial {
            write(&raises, &[1])?;
        }
        rustix::io::ioctl_fionbio(&lowers, blocking == Blocking::Try)?;
        Ok([Self { end: raises }, Self { end: lowers }])
    }

    fn increment(&self, calls: &mut u64) -> Result<(), Errno> {
        *calls += 1;
        write(&self.end, &[1]).map(drop)
    }

    /// Blocks here if it may: then no wake-up can be missed, and end of file ends the wait.
    fn try_decrement(&self, calls: &mut u64) -> Result<bool, Errno> {
        *calls += 1;
        match read(&self.end, &mut [0_u8; 1][..]) {
            Ok(0) => Err(Errno::PIPE),
            Ok(_) => Ok(true),
            Err(Errno::AGAIN) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    fn sleep(&self, _: &mut u64) -> Result<SleepOutcome, Errno> {
        Ok(SleepOutcome::Woken)
    }
}
