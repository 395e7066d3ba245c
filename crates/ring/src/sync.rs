//! Synchronization primitives: those of the system or, with `--cfg loom`, loom's model of them.

#[cfg(loom)]
pub(crate) use self::loom_model::{futex_wait, futex_wake, yield_now};
#[cfg(not(loom))]
pub(crate) use self::real::{futex_wait, futex_wake, yield_now};
#[cfg(loom)]
pub(crate) use loom::sync::Arc;
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::Arc;
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Reason why a sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WakeReason {
    /// The time limit passed.
    TimedOut,
    /// A wake, a signal, or a changed word: the sleeper must check again.
    Otherwise,
}

#[cfg(all(not(loom), target_os = "linux"))]
mod real {
    use std::time::Duration;

    use rustix::io::Errno;
    use rustix::thread::futex::{self, Flags, Timespec};

    use super::{AtomicU32, WakeReason};

    /// Sleeps while `word` is 1, for `limit` at most.
    pub(crate) fn futex_wait(word: &AtomicU32, limit: Duration) -> WakeReason {
        let limit = Timespec {
            tv_sec: limit.as_secs().cast_signed(),
            tv_nsec: limit.subsec_nanos().into(),
        };
        match futex::wait(word, Flags::empty(), 1, Some(&limit)) {
            Err(Errno::TIMEDOUT) => WakeReason::TimedOut,
            _ => WakeReason::Otherwise,
        }
    }

    pub(crate) fn futex_wake(word: &AtomicU32) {
        // Waking a futex on mapped memory cannot fail.
        let _ = futex::wake(word, Flags::empty(), 1);
    }

    pub(crate) fn yield_now() {
        rustix::thread::sched_yield();
    }
}

/// A stand-in for the futex: see [`crate::portable_wait`].
#[cfg(all(not(loom), not(target_os = "linux")))]
mod real {
    use std::time::Duration;

    use super::{AtomicU32, WakeReason};
    use crate::portable_wait::{WaitEnd, wait_while};

    pub(crate) use std::thread::yield_now;

    /// Sleeps while `word` is 1, for `limit` at most.
    pub(crate) fn futex_wait(word: &AtomicU32, limit: Duration) -> WakeReason {
        match wait_while(word, 1, Some(limit)) {
            WaitEnd::TimedOut => WakeReason::TimedOut,
            WaitEnd::Changed => WakeReason::Otherwise,
        }
    }

    /// The waker has set the word to 0, which the sleeper sees: there is nothing else to do.
    pub(crate) fn futex_wake(_: &AtomicU32) {}
}

/// A futex that loom can model: a thread that sleeps forever is a deadlock, which loom reports.
#[cfg(loom)]
mod loom_model {
    use std::time::Duration;

    use loom::lazy_static;
    use loom::sync::{Condvar, Mutex};

    use super::{AtomicU32, Ordering, WakeReason};

    lazy_static! {
        static ref KERNEL: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
    }

    pub(crate) fn futex_wait(word: &AtomicU32, _: Duration) -> WakeReason {
        let guard = KERNEL.0.lock().unwrap();
        if word.load(Ordering::SeqCst) == 1 {
            drop(KERNEL.1.wait(guard).unwrap());
        }
        WakeReason::Otherwise
    }

    pub(crate) fn futex_wake(_: &AtomicU32) {
        drop(KERNEL.0.lock().unwrap());
        KERNEL.1.notify_all();
    }

    pub(crate) fn yield_now() {
        loom::thread::yield_now();
    }
}
