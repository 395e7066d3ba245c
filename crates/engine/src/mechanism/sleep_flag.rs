//! A flag in shared memory on which one side sleeps until the other wakes it.

use std::sync::atomic::{AtomicU32, Ordering, fence};

use rustix::event::Timespec;
use rustix::io::Errno;

use crate::platform::futex::{self, Flags};

/// 1 while one side sleeps or is about to. All zero is its initial state.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(super) struct SleepFlag(AtomicU32);

impl SleepFlag {
    /// Sets the flag, then sleeps for at most `limit` if `must_sleep` still holds. Returns whether it made a system
    /// call. The sleep can end early, so the caller must check its condition again.
    ///
    /// The flag itself must be the futex word. The other side clears the flag before it wakes this side, and a late
    /// wake for an earlier message can clear it just before this side sleeps. The futex call then returns at once,
    /// because the word has changed. With a separate futex word, this side would sleep although its flag is cleared,
    /// and the other side would never wake it.
    pub(super) fn sleep_while(
        &self,
        must_sleep: impl FnOnce() -> bool,
        limit: Option<&Timespec>,
    ) -> bool {
        self.0.store(1, Ordering::Relaxed);
        // Pairs with the fence in `wake`: either the condition has already changed here, or the other side sees the flag.
        fence(Ordering::SeqCst);
        let sleeps = must_sleep();
        if sleeps {
            let _ = futex::wait(&self.0, Flags::empty(), 1, limit);
        }
        self.0.store(0, Ordering::Relaxed);
        sleeps
    }

    /// Wakes the other side if it sleeps. The change that it waits for must come first. Returns whether this made a
    /// system call.
    ///
    /// # Errors
    /// Returns the error of the futex call, which cannot fail while the flag is mapped.
    #[inline]
    pub(super) fn wake(&self) -> Result<bool, Errno> {
        fence(Ordering::SeqCst);
        let sleeps = self.0.load(Ordering::Relaxed) != 0 && self.0.swap(0, Ordering::Relaxed) != 0;
        if sleeps {
            futex::wake(&self.0, Flags::empty(), 1)?;
        }
        Ok(sleeps)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// Number of messages. A sleep on another word than the flag hangs within the first few thousand.
    const MESSAGES: u32 = 50_000;

    #[derive(Default)]
    struct Shared {
        count: AtomicU32,
        taken: AtomicU32,
        flag: SleepFlag,
        is_done: AtomicBool,
    }

    /// Waits until the sender or the receiver has ended. Other programs may slow them down, but not stop them: in each
    /// period, some message is taken.
    fn await_end(ended: &mpsc::Receiver<()>, shared: &Shared) {
        let mut before = None;
        while ended.recv_timeout(Duration::from_secs(300)).is_err() {
            let taken = Some(shared.taken.load(Ordering::Relaxed));
            assert_ne!(taken, before, "the receiver sleeps although there is a message");
            before = taken;
        }
    }

    /// Takes all messages, one at a time.
    fn take_all(shared: &Shared) {
        for taken in 0..MESSAGES {
            shared.taken.store(taken, Ordering::Relaxed);
            while shared.count.load(Ordering::Acquire) == 0 {
                shared.flag.sleep_while(|| shared.count.load(Ordering::Acquire) == 0, None);
            }
            shared.count.store(0, Ordering::Release);
        }
    }

    /// Sends all messages, each once the last has been taken.
    fn send_all(shared: &Shared) {
        for _ in 0..MESSAGES {
            while shared.count.load(Ordering::Acquire) != 0 {
                thread::yield_now();
            }
            shared.count.store(1, Ordering::Release);
            shared.flag.wake().unwrap();
        }
    }

    /// A third thread wakes all the time, as a side does that is late with its wake for an earlier message.
    #[test]
    fn late_wakes_cost_no_message() {
        let shared = Arc::new(Shared::default());
        let (done, ended) = mpsc::channel();
        for work in [take_all, send_all] {
            let (shared, done) = (Arc::clone(&shared), done.clone());
            thread::spawn(move || {
                work(&shared);
                let _ = done.send(());
            });
        }
        let late = Arc::clone(&shared);
        thread::spawn(move || {
            while !late.is_done.load(Ordering::Relaxed) {
                late.flag.wake().unwrap();
                thread::yield_now();
            }
        });
        for _ in 0..2 {
            await_end(&ended, &shared);
        }
        shared.is_done.store(true, Ordering::Relaxed);
    }
}
