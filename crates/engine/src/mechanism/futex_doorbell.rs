//! A doorbell that is a counter in shared memory, with a futex word to sleep on.

use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;

use super::sleep_flag::SleepFlag;
use super::slot::{Doorbell, DoorbellLocation};
use crate::channel::Blocking;

/// Counter in shared memory, and the flag on which the peer sleeps that waits for it. All zero is its initial state.
#[repr(C)]
struct FutexCounter {
    count: AtomicU32,
    sleeper: SleepFlag,
}

/// A doorbell that is such a counter.
#[derive(Clone, Debug)]
pub(super) struct FutexDoorbell {
    pub(super) location: DoorbellLocation,
}

impl FutexDoorbell {
    fn counter(&self) -> &FutexCounter {
        // SAFETY: the memory is aligned to 128 bytes, zero at first, used by this bell alone, and only
        // accessed as these atomics; it lives as long as the spot.
        unsafe { self.location.address().cast().as_ref() }
    }
}

impl Doorbell for FutexDoorbell {
    #[inline]
    fn ring(&self, calls: &mut u64) -> Result<(), Errno> {
        let counter = self.counter();
        counter.count.fetch_add(1, Ordering::Release);
        *calls += u64::from(counter.sleeper.wake()?);
        Ok(())
    }

    #[inline]
    fn wait(&self, calls: &mut u64) -> Result<(), Errno> {
        let FutexCounter { count, sleeper } = self.counter();
        let is_empty = || count.load(Ordering::Acquire) == 0;
        while is_empty() && self.location.blocking == Blocking::Wait {
            *calls += u64::from(sleeper.sleep_while(is_empty, None));
        }
        self.try_wait(calls)
    }

    #[inline]
    fn try_wait(&self, _: &mut u64) -> Result<(), Errno> {
        let count = &self.counter().count;
        // Only one side takes from each bell, so a count above zero stays there.
        if count.load(Ordering::Acquire) == 0 {
            return Err(Errno::AGAIN);
        }
        count.fetch_sub(1, Ordering::Acquire);
        Ok(())
    }
}
