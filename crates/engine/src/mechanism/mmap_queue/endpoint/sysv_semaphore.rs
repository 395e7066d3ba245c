//! System V semaphores: one set of four, two for each queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::io::Errno;

use super::shared::QueueMemory;
use super::{Blocking, Count, SleepOutcome, liveness_timespec};
use crate::mechanism::sysv;
use crate::platform::errno_result;

/// Number of semaphores in the set: full and free slots, in both directions.
const SEMAPHORES: libc::c_int = 4;

/// One end of a semaphore of the set.
#[derive(Clone, Copy)]
pub(super) struct SysvSemaphore {
    set: libc::c_int,
    number: u16,
    blocking: Blocking,
}

impl SysvSemaphore {
    /// Adds `change`, or waits until that is possible: for up to one slice, if it may block.
    fn add(self, change: i16, calls: &mut u64) -> Result<(), Errno> {
        *calls += 1;
        #[allow(clippy::cast_possible_truncation, reason = "IPC_NOWAIT has 12 bits")]
        let flags = if self.blocking == Blocking::Try { libc::IPC_NOWAIT as i16 } else { 0 };
        let operation = libc::sembuf { sem_num: self.number, sem_op: change, sem_flg: flags };
        let slice = liveness_timespec(None);
        // SAFETY: the pointers are to one operation, as the count says, and to a time. Both outlive the call,
        // and neither is written. (A raw system call, because not every C library has `semtimedop`.)
        let returned = unsafe {
            let (operation, slice) = (&raw const operation, &raw const slice);
            libc::syscall(libc::SYS_semtimedop, self.set, operation, 1_usize, slice)
        };
        sysv::object_outcome(if returned == -1 { -1 } else { 0 }).map(drop)
    }

    fn set_value(self, initial: u32) -> Result<(), Errno> {
        let (set, number) = (self.set, libc::c_int::from(self.number));
        // SAFETY: with `SETVAL` the call takes only numbers.
        errno_result(unsafe { libc::semctl(set, number, libc::SETVAL, initial) }).map(drop)
    }
}

/// ID of the set of the connection that was opened last; -1 before the first one. Connections are opened one after another.
static SET: AtomicI32 = AtomicI32::new(-1);

/// Returns the ID of the connection's set, which the request for its first semaphore creates.
fn semaphore_set(number: u16) -> Result<libc::c_int, Errno> {
    if number == 0 {
        sysv::remove_on_parent_death();
        // SAFETY: the call takes only numbers.
        let set = sysv::create(|key, flags| unsafe { libc::semget(key, SEMAPHORES, flags) })?;
        SET.store(set, Ordering::Relaxed);
    }
    errno_result(SET.load(Ordering::Relaxed)).map_err(|_| Errno::INVAL)
}

impl Count for SysvSemaphore {
    fn ends(
        shared: &Arc<QueueMemory>,
        line: usize,
        initial: u32,
        blocking: Blocking,
    ) -> Result<[Self; 2], Errno> {
        let number = u16::try_from(line).map_err(|_| Errno::INVAL)? + 2 * shared.direction as u16;
        let end = Self { set: semaphore_set(number)?, number, blocking };
        end.set_value(initial)?;
        Ok([end; 2])
    }

    fn increment(&self, calls: &mut u64) -> Result<(), Errno> {
        self.add(1, calls)
    }

    /// Blocks here for up to one slice if it may: this takes one call, and no wake-up can be missed.
    fn try_decrement(&self, calls: &mut u64) -> Result<bool, Errno> {
        match self.add(-1, calls) {
            Ok(()) => Ok(true),
            Err(Errno::AGAIN | Errno::INTR) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    fn sleep(&self, _: &mut u64) -> Result<SleepOutcome, Errno> {
        Ok(SleepOutcome::TimedOut)
    }

    fn remove(&self) {
        // SAFETY: removing a set takes only numbers, and fails harmlessly if the set is gone.
        unsafe { libc::semctl(self.set, 0, libc::IPC_RMID) };
    }
}
