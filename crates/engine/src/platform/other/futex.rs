//! A stand-in for futexes with their signatures: the waiter polls ([`ipcperf_ring::portable_wait`]), so that a wake has
//! nothing to do.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

use ipcperf_ring::portable_wait::{WaitEnd, wait_while};
use rustix::event::Timespec;
use rustix::io::Errno;

/// Flags of a futex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flags {
    /// The waiters may be in different processes.
    Shared,
    /// The waiters are threads of this process. Refused: the hardware limits use it to measure real futexes.
    Private,
}

impl Flags {
    /// The waiters are threads of this process.
    pub(crate) const PRIVATE: Self = Self::Private;

    /// No flag.
    pub(crate) const fn empty() -> Self {
        Self::Shared
    }

    fn ensure_shared(self) -> Result<(), Errno> {
        if self == Self::Shared { Ok(()) } else { Err(Errno::NOSYS) }
    }
}

/// Waits while `word` is `value`, until `limit` has passed.
///
/// # Errors
/// Returns `ETIMEDOUT` if the limit has passed, and `ENOSYS` for a private futex.
pub(crate) fn wait(
    word: &AtomicU32,
    flags: Flags,
    value: u32,
    limit: Option<&Timespec>,
) -> Result<(), Errno> {
    flags.ensure_shared()?;
    match wait_while(word, value, limit.map(duration)) {
        WaitEnd::Changed => Ok(()),
        WaitEnd::TimedOut => Err(Errno::TIMEDOUT),
    }
}

/// Wakes `count` waiters: they see the new value by themselves.
///
/// # Errors
/// Returns `ENOSYS` for a private futex.
pub(crate) fn wake(_: &AtomicU32, flags: Flags, count: u32) -> Result<usize, Errno> {
    flags.ensure_shared().map(|()| count as usize)
}

fn duration(time: &Timespec) -> Duration {
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(time.tv_sec.unsigned_abs(), nanoseconds)
}
