//! How a side of the ring waits, and how it is woken.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use rustix::io::Errno;
use rustix::thread::{futex, sched_yield};

use crate::clock;

/// How long to look before sleeping: longer than a wake-up's own cost would lose, shorter than the
/// other side's time slice.
const SPIN_NS: u64 = 20_000;

/// Looks before the first PAUSE, which would take as long as the whole way of a line between near
/// CPUs.
const EAGER_LOOKS: u32 = 64;

/// How a side waits when it can do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Look for 20 us, then sleep on a futex. For sides on CPUs of their own.
    SpinThenFutex,
    /// Sleep on a futex at once.
    Futex,
    /// Give up the CPU and look again. For sides that share one CPU.
    Yield,
    /// Do not wait: return `EAGAIN`.
    Never,
}

/// Waits and wakes as its kind says, and counts the system calls that took.
#[derive(Debug)]
pub(super) struct Waiter {
    waiting: Waiting,
    calls: u64,
}

impl Waiter {
    pub(super) fn new(waiting: Waiting) -> Self {
        Self { waiting, calls: 0 }
    }

    /// System calls made since this was last asked.
    pub(super) fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }

    /// Returns once `ready` says so. `sleeps` is where this side announces that it sleeps.
    ///
    /// # Errors
    /// `EPIPE` once `closed` is set and nothing is ready; `EAGAIN` where it may not wait.
    #[cold]
    pub(super) fn until(
        &mut self,
        ready: impl Fn() -> bool,
        sleeps: &AtomicU32,
        closed: &AtomicU32,
    ) -> Result<(), Errno> {
        loop {
            // Read before `ready`: what was complete before the peer left still counts.
            let gone = closed.load(Ordering::Acquire) != 0;
            if ready() {
                return Ok(());
            }
            if gone {
                return Err(Errno::PIPE);
            }
            match self.waiting {
                Waiting::Never => return Err(Errno::AGAIN),
                Waiting::Yield => self.give_way(),
                Waiting::Futex => self.sleep(&ready, sleeps, closed),
                Waiting::SpinThenFutex => {
                    if spin(&ready) {
                        return Ok(());
                    }
                    self.sleep(&ready, sleeps, closed);
                }
            }
        }
    }

    fn give_way(&mut self) {
        self.calls += 1;
        sched_yield();
    }

    /// Announces, looks once more, sleeps. The fence pairs with the one in [`Waiter::wake`]: either
    /// this side sees what the other has just done, or the other sees the announcement.
    fn sleep(&mut self, ready: &impl Fn() -> bool, sleeps: &AtomicU32, closed: &AtomicU32) {
        sleeps.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if ready() || closed.load(Ordering::Acquire) != 0 {
            sleeps.store(0, Ordering::Relaxed);
            return;
        }
        self.calls += 1;
        // Whatever ends the sleep (a wake, a signal, a value that has changed), the caller looks.
        let _ = futex::wait(sleeps, futex::Flags::empty(), 1, None);
        sleeps.store(0, Ordering::Relaxed);
    }

    /// Wakes the other side if it announced on `sleeps` that it sleeps.
    #[inline]
    pub(super) fn wake(&mut self, sleeps: &AtomicU32) {
        if matches!(self.waiting, Waiting::Yield | Waiting::Never) {
            return;
        }
        fence(Ordering::SeqCst);
        if sleeps.load(Ordering::Relaxed) != 0 && sleeps.swap(0, Ordering::Relaxed) != 0 {
            self.calls += 1;
            // A futex on memory that is mapped cannot fail to be woken.
            let _ = futex::wake(sleeps, futex::Flags::empty(), 1);
        }
    }
}

/// Looks without pause for as long as a cache line takes to come and go between near CPUs, then for
/// [`SPIN_NS`] with one PAUSE for each look, reading the clock at every sixteenth.
fn spin(ready: &impl Fn() -> bool) -> bool {
    if (0..EAGER_LOOKS).any(|_| ready()) {
        return true;
    }
    let mut end = None;
    loop {
        for _ in 0..16 {
            if ready() {
                return true;
            }
            spin_loop();
        }
        let now = clock::now_ns();
        if now > *end.get_or_insert(now + SPIN_NS) {
            return false;
        }
    }
}
