//! Record locks: around each message, or only when nothing can move without one.

use std::fs::OpenOptions;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;
use rustix::thread::sched_yield;

use super::shared::{LIVENESS_INTERVAL, QueueMemory, View};
use super::{Blocking, Wait};
use crate::clock::now_ns;

/// A lock on the queue's file, through this side's own open file description.
struct RecordLock {
    file: OwnedFd,
    blocking: Blocking,
    calls: u64,
}

impl RecordLock {
    fn pair(shared: &QueueMemory, blocking: Blocking) -> Result<[Self; 2], Errno> {
        let open = || {
            let path = format!("/proc/self/fd/{}", shared.file.as_raw_fd());
            let file = OpenOptions::new().read(true).write(true).open(path);
            let file = file.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
            Ok(Self { file: file.into(), blocking, calls: 0 })
        };
        Ok([open()?, open()?])
    }

    fn call(&mut self, command: libc::c_int, kind: libc::c_int) -> Result<(), Errno> {
        // SAFETY: an all-zero `flock` is valid; offsets count from the beginning of the file (`SEEK_SET` is
        // 0).
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        // A small constant: the kernel's field is a `short`.
        lock.l_type = libc::c_short::try_from(kind).map_err(|_| Errno::INVAL)?;
        lock.l_len = 1;
        self.calls += 1;
        // SAFETY: the command takes a `flock`, which is initialized and outlives the call.
        match unsafe { libc::fcntl(self.file.as_raw_fd(), command, &raw mut lock) } {
            -1 => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)),
            _ => Ok(()),
        }
    }

    fn lock(&mut self) -> Result<(), Errno> {
        self.call(libc::F_OFD_SETLKW, libc::F_WRLCK)
    }

    fn unlock(&mut self) -> Result<(), Errno> {
        self.call(libc::F_OFD_SETLK, libc::F_UNLCK)
    }

    /// Takes the lock repeatedly, yielding in between, until `view` is ready while the lock is held.
    fn lock_when_ready(&mut self, view: View<'_>) -> Result<(), Errno> {
        let mut next_check_ns = None;
        loop {
            // Read this first: messages that were complete before the other side left still count.
            let closed = view.is_closed();
            self.lock()?;
            if view.is_ready() {
                return Ok(());
            }
            self.unlock()?;
            if self.blocking == Blocking::Try {
                return Err(Errno::AGAIN);
            }
            if closed || self.is_orphaned(view, &mut next_check_ns) {
                return Err(Errno::PIPE);
            }
            self.calls += 1;
            sched_yield();
        }
    }

    /// Checks once in each [`LIVENESS_INTERVAL`] whether the other side is alive.
    fn is_orphaned(&mut self, view: View<'_>, next_check_ns: &mut Option<u64>) -> bool {
        let (now, slice_ns) = (now_ns(), u64::from(LIVENESS_INTERVAL.subsec_nanos()));
        if now < *next_check_ns.get_or_insert(now + slice_ns) {
            return false;
        }
        *next_check_ns = Some(now + slice_ns);
        view.is_orphaned(&mut self.calls)
    }
}

/// Holds the lock around each message.
pub(super) struct FcntlEach(RecordLock);

impl Wait for FcntlEach {
    fn pair(shared: &Arc<QueueMemory>, blocking: Blocking) -> Result<[Self; 2], Errno> {
        Ok(RecordLock::pair(shared, blocking)?.map(Self))
    }

    fn begin(&mut self, view: View<'_>) -> Result<(), Errno> {
        self.0.lock_when_ready(view)
    }

    fn end(&mut self, _: View<'_>) -> Result<(), Errno> {
        self.0.unlock()
    }

    fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.0.calls)
    }
}

/// Takes the lock only to check again after a check without it found nothing.
pub(super) struct FcntlNeeded(RecordLock);

impl Wait for FcntlNeeded {
    fn pair(shared: &Arc<QueueMemory>, blocking: Blocking) -> Result<[Self; 2], Errno> {
        Ok(RecordLock::pair(shared, blocking)?.map(Self))
    }

    #[inline]
    fn begin(&mut self, view: View<'_>) -> Result<(), Errno> {
        if view.is_ready() {
            return Ok(());
        }
        self.0.lock_when_ready(view)?;
        self.0.unlock()
    }

    #[inline]
    fn end(&mut self, _: View<'_>) -> Result<(), Errno> {
        Ok(())
    }

    fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.0.calls)
    }
}
