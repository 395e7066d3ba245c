//! A count in shared memory that needs system calls only to sleep and to wake a sleeper.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::thread::futex;

use super::shared::QueueMemory;
use super::{Blocking, Count, SleepOutcome, liveness_timespec};

/// The count, and whether a thread sleeps on it.
#[repr(C)]
struct FutexWord {
    count: AtomicU32,
    is_sleeping: AtomicU32,
}

/// One end of the count.
pub(super) struct FutexCount {
    shared: Arc<QueueMemory>,
    line: usize,
}

impl FutexCount {
    fn word(&self) -> &FutexWord {
        // SAFETY: the line is 128 bytes of shared memory, aligned to 128 and zero at first, which is a valid
        // `FutexWord`. It is only accessed as these atomics and lives as long as `shared`.
        unsafe { &*self.shared.line(self.line).cast() }
    }
}

impl Count for FutexCount {
    fn ends(
        shared: &Arc<QueueMemory>,
        line: usize,
        initial: u32,
        _: Blocking,
    ) -> Result<[Self; 2], Errno> {
        let ends = [(); 2].map(|()| Self { shared: Arc::clone(shared), line });
        ends[0].word().count.store(initial, Ordering::Relaxed);
        Ok(ends)
    }

    /// Increments, then checks whether the other side sleeps. A sleeper sets its flag first and then checks
    /// the count. Both are sequentially consistent, so at least one of the two sees the other.
    #[inline]
    fn increment(&self, calls: &mut u64) -> Result<(), Errno> {
        let word = self.word();
        word.count.fetch_add(1, Ordering::SeqCst);
        if word.is_sleeping.load(Ordering::SeqCst) != 0 {
            *calls += 1;
            futex::wake(&word.count, futex::Flags::empty(), 1)?;
        }
        Ok(())
    }

    #[inline]
    fn try_decrement(&self, _: &mut u64) -> Result<bool, Errno> {
        let count = &self.word().count;
        // Only this side decrements the count: once above zero, it stays there.
        if count.load(Ordering::SeqCst) == 0 {
            return Ok(false);
        }
        count.fetch_sub(1, Ordering::SeqCst);
        Ok(true)
    }

    fn sleep(&self, calls: &mut u64) -> Result<SleepOutcome, Errno> {
        let (word, slice) = (self.word(), liveness_timespec(None));
        let slice = futex::Timespec { tv_sec: slice.tv_sec, tv_nsec: slice.tv_nsec };
        word.is_sleeping.store(1, Ordering::SeqCst);
        *calls += 1;
        // Returns at once if the count is no longer zero.
        let slept = futex::wait(&word.count, futex::Flags::empty(), 0, Some(&slice));
        word.is_sleeping.store(0, Ordering::SeqCst);
        Ok(if slept == Err(Errno::TIMEDOUT) { SleepOutcome::TimedOut } else { SleepOutcome::Woken })
    }
}
