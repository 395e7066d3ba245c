//! A robust mutex shared between processes and held around each message, and a condition variable for each
//! side.

use std::sync::Arc;

use rustix::io::Errno;
use rustix::time::ClockId;

use super::shared::{QueueMemory, View};
use super::{Blocking, Wait, liveness_timespec};

/// One side's view of the mutex.
pub(super) struct RobustMutex {
    shared: Arc<QueueMemory>,
    /// Lines of the condition variable that this side sleeps on, and of the other side's.
    own_line: usize,
    peer_line: usize,
    blocking: Blocking,
    calls: u64,
}

/// Converts the result of a call that returns its error number.
fn checked(returned: libc::c_int) -> Result<(), Errno> {
    if returned == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(returned)) }
}

impl RobustMutex {
    fn mutex(&self) -> *mut libc::pthread_mutex_t {
        const { assert!(size_of::<libc::pthread_mutex_t>() <= 128) };
        self.shared.line(0).cast()
    }

    fn condition(&self, line: usize) -> *mut libc::pthread_cond_t {
        const { assert!(size_of::<libc::pthread_cond_t>() <= 128) };
        self.shared.line(line).cast()
    }

    /// Initializes the mutex and both condition variables.
    fn initialize(&self) -> Result<(), Errno> {
        // SAFETY: each call gets attributes that were initialized just above, and a line that is large
        // enough, aligned enough and unused. Nothing is ever destroyed: the memory goes away with the
        // processes.
        unsafe {
            let mut kind: libc::pthread_mutexattr_t = std::mem::zeroed();
            checked(libc::pthread_mutexattr_init(&raw mut kind))?;
            let shared = libc::PTHREAD_PROCESS_SHARED;
            checked(libc::pthread_mutexattr_setpshared(&raw mut kind, shared))?;
            let robust = libc::PTHREAD_MUTEX_ROBUST;
            checked(libc::pthread_mutexattr_setrobust(&raw mut kind, robust))?;
            checked(libc::pthread_mutex_init(self.mutex(), &raw const kind))?;
            let mut kind: libc::pthread_condattr_t = std::mem::zeroed();
            checked(libc::pthread_condattr_init(&raw mut kind))?;
            checked(libc::pthread_condattr_setpshared(&raw mut kind, shared))?;
            let clock = libc::CLOCK_MONOTONIC;
            checked(libc::pthread_condattr_setclock(&raw mut kind, clock))?;
            for line in [self.own_line, self.peer_line] {
                checked(libc::pthread_cond_init(self.condition(line), &raw const kind))?;
            }
        }
        Ok(())
    }

    fn lock(&self) -> Result<(), Errno> {
        // SAFETY: `initialize` has initialized the mutex, which is never destroyed.
        match unsafe { libc::pthread_mutex_lock(self.mutex()) } {
            // The other side died while it held the mutex, so there is nothing left to wait for.
            libc::EOWNERDEAD => {
                self.unlock()?;
                Err(Errno::PIPE)
            }
            libc::ENOTRECOVERABLE => Err(Errno::PIPE),
            other => checked(other),
        }
    }

    fn unlock(&self) -> Result<(), Errno> {
        // SAFETY: as for `lock`; this thread holds it.
        checked(unsafe { libc::pthread_mutex_unlock(self.mutex()) })
    }

    /// Sleeps for at most [`LIVENESS_INTERVAL`](super::shared::LIVENESS_INTERVAL), with the mutex released meanwhile.
    /// Returns `EPIPE` if that time passed and the other side is gone.
    fn sleep(&mut self, view: View<'_>) -> Result<(), Errno> {
        let until = liveness_timespec(Some(ClockId::Monotonic));
        let (condition, mutex) = (self.condition(self.own_line), self.mutex());
        self.calls += 1;
        // SAFETY: as for `lock`; the mutex is held, and the time outlives the call.
        match unsafe { libc::pthread_cond_timedwait(condition, mutex, &raw const until) } {
            libc::ETIMEDOUT if view.is_orphaned(&mut self.calls) => Err(Errno::PIPE),
            0 | libc::ETIMEDOUT => Ok(()),
            libc::EOWNERDEAD => Err(Errno::PIPE),
            other => checked(other),
        }
    }

    /// Waits while holding the mutex.
    fn wait(&mut self, view: View<'_>) -> Result<(), Errno> {
        loop {
            // Read this first: messages that were complete before the other side left still count.
            let closed = view.is_closed();
            if view.is_ready() {
                return Ok(());
            }
            if closed {
                return Err(Errno::PIPE);
            }
            if self.blocking == Blocking::Try {
                return Err(Errno::AGAIN);
            }
            self.sleep(view)?;
        }
    }
}

impl Wait for RobustMutex {
    fn pair(shared: &Arc<QueueMemory>, blocking: Blocking) -> Result<[Self; 2], Errno> {
        let side = |own, others| Self {
            shared: Arc::clone(shared),
            own_line: own,
            peer_line: others,
            blocking,
            calls: 0,
        };
        let both = [side(1, 2), side(2, 1)];
        both[0].initialize()?;
        Ok(both)
    }

    fn begin(&mut self, view: View<'_>) -> Result<(), Errno> {
        self.lock()?;
        let waited = self.wait(view);
        if waited.is_err() {
            self.unlock()?;
        }
        waited
    }

    fn end(&mut self, _: View<'_>) -> Result<(), Errno> {
        // SAFETY: as for `lock`; `initialize` has initialized the condition variable.
        checked(unsafe { libc::pthread_cond_signal(self.condition(self.peer_line)) })?;
        self.unlock()
    }

    fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }
}
