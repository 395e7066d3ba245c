//! POSIX semaphores in shared memory.

use std::sync::Arc;

use rustix::io::Errno;
use rustix::time::ClockId;

use super::shared::QueueMemory;
use super::{Blocking, Count, SleepOutcome, liveness_timespec};

/// One end of a semaphore.
pub(super) struct PosixSemaphore {
    shared: Arc<QueueMemory>,
    line: usize,
}

impl PosixSemaphore {
    fn address(&self) -> *mut libc::sem_t {
        const { assert!(size_of::<libc::sem_t>() <= 128) };
        self.shared.line(self.line).cast()
    }
}

fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)
}

impl Count for PosixSemaphore {
    fn ends(
        shared: &Arc<QueueMemory>,
        line: usize,
        initial: u32,
        _: Blocking,
    ) -> Result<[Self; 2], Errno> {
        let ends = [(); 2].map(|()| Self { shared: Arc::clone(shared), line });
        // SAFETY: the line is large and aligned enough for a semaphore, shared between the processes, and
        // unused.
        match unsafe { libc::sem_init(ends[0].address(), 1, initial) } {
            0 => Ok(ends),
            _ => Err(last_errno()),
        }
    }

    fn increment(&self, _: &mut u64) -> Result<(), Errno> {
        // SAFETY: `ends` has initialized the semaphore, which is never destroyed.
        if unsafe { libc::sem_post(self.address()) } == 0 { Ok(()) } else { Err(last_errno()) }
    }

    fn try_decrement(&self, _: &mut u64) -> Result<bool, Errno> {
        // SAFETY: as for `increment`.
        if unsafe { libc::sem_trywait(self.address()) } == 0 {
            return Ok(true);
        }
        match last_errno() {
            Errno::AGAIN | Errno::INTR => Ok(false),
            errno => Err(errno),
        }
    }

    fn sleep(&self, calls: &mut u64) -> Result<SleepOutcome, Errno> {
        let until = liveness_timespec(Some(ClockId::Realtime));
        *calls += 1;
        // SAFETY: as for `increment`; the time outlives the call.
        if unsafe { libc::sem_timedwait(self.address(), &raw const until) } == 0 {
            return Ok(SleepOutcome::Decremented);
        }
        match last_errno() {
            Errno::TIMEDOUT => Ok(SleepOutcome::TimedOut),
            Errno::INTR => Ok(SleepOutcome::Woken),
            errno => Err(errno),
        }
    }
}
