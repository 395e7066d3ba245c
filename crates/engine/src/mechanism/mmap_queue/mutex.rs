//! A robust mutex that processes share, held around each message, and a condition for each side.

use std::sync::Arc;

use rustix::io::Errno;
use rustix::time::ClockId;

use super::shared::{Shared, View};
use super::{Blocking, Wait, slice_as};

/// One side's use of the mutex.
pub(super) struct Mutex {
    shared: Arc<Shared>,
    /// The lines of the condition this side sleeps on, and of the other's.
    own: usize,
    others: usize,
    blocking: Blocking,
    calls: u64,
}

/// The result of a call that returns its error.
fn checked(returned: libc::c_int) -> Result<(), Errno> {
    if returned == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(returned)) }
}

impl Mutex {
    fn mutex(&self) -> *mut libc::pthread_mutex_t {
        const { assert!(size_of::<libc::pthread_mutex_t>() <= 128) };
        self.shared.line(0).cast()
    }

    fn condition(&self, line: usize) -> *mut libc::pthread_cond_t {
        const { assert!(size_of::<libc::pthread_cond_t>() <= 128) };
        self.shared.line(line).cast()
    }

    /// Makes the mutex and both conditions.
    fn make(&self) -> Result<(), Errno> {
        // SAFETY: each call gets attributes that were made two lines above, and a line that is large
        // and aligned enough and that nobody uses yet; nothing is ever destroyed, as the memory goes
        // with the processes.
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
            for line in [self.own, self.others] {
                checked(libc::pthread_cond_init(self.condition(line), &raw const kind))?;
            }
        }
        Ok(())
    }

    fn lock(&self) -> Result<(), Errno> {
        // SAFETY: `make` has made it a mutex, which is never destroyed.
        match unsafe { libc::pthread_mutex_lock(self.mutex()) } {
            // The other side died with it: there is nobody left to wait for.
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

    /// Sleeps, the mutex let go meanwhile, for a slice of time at most. `EPIPE` where that passed and
    /// the other side is no more.
    fn sleep(&mut self, view: View<'_>) -> Result<(), Errno> {
        let until = slice_as(Some(ClockId::Monotonic));
        let (condition, mutex) = (self.condition(self.own), self.mutex());
        self.calls += 1;
        // SAFETY: as for `lock`, the mutex is held, and the time outlives the call.
        match unsafe { libc::pthread_cond_timedwait(condition, mutex, &raw const until) } {
            libc::ETIMEDOUT if view.is_orphaned(&mut self.calls) => Err(Errno::PIPE),
            0 | libc::ETIMEDOUT => Ok(()),
            libc::EOWNERDEAD => Err(Errno::PIPE),
            other => checked(other),
        }
    }

    /// Waits under the mutex.
    fn wait(&mut self, view: View<'_>) -> Result<(), Errno> {
        loop {
            // Read first: what was complete before the other side left still counts.
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

impl Wait for Mutex {
    fn both(shared: &Arc<Shared>, blocking: Blocking) -> Result<[Self; 2], Errno> {
        let side =
            |own, others| Self { shared: Arc::clone(shared), own, others, blocking, calls: 0 };
        let both = [side(1, 2), side(2, 1)];
        both[0].make()?;
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
        // SAFETY: as for `lock`: `make` has made it a condition.
        checked(unsafe { libc::pthread_cond_signal(self.condition(self.others)) })?;
        self.unlock()
    }

    fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }
}
