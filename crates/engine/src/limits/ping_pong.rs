//! A token that two threads pass to each other; each sleeps while the other has it.

use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;

use super::error::LimitError;
use crate::platform::futex::{self, Flags};

/// Thread that holds the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Holder {
    Leader,
    Follower,
}

/// Value of the token after the end: no thread holds it.
const ENDED: u32 = 2;

/// How a thread got the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenWait {
    /// The thread slept until it was woken.
    Slept,
    /// The token arrived before the thread had fallen asleep.
    Immediate,
    /// It did not get the token: the exchange is over.
    Ended,
}

/// The token; the leader holds it first.
#[derive(Debug)]
pub(super) struct Token(AtomicU32);

impl Token {
    pub(super) const fn new() -> Self {
        Self(AtomicU32::new(Holder::Leader as u32))
    }

    /// Passes the token from `holder` to `next` and wakes that thread. Does nothing after the end.
    ///
    /// # Errors
    /// Returns an error if the system refused the wake.
    #[inline]
    pub(super) fn pass(&self, holder: Holder, next: Holder) -> Result<(), LimitError> {
        let (holder, next) = (holder as u32, next as u32);
        if self.0.compare_exchange(holder, next, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            futex::wake(&self.0, Flags::PRIVATE, 1).map_err(LimitError::refused("futex"))?;
        }
        Ok(())
    }

    /// Sleeps until `me` has the token.
    ///
    /// # Errors
    /// Returns an error if the system refused the wait.
    #[inline]
    pub(super) fn take(&self, me: Holder) -> Result<TokenWait, LimitError> {
        let mut taken = TokenWait::Immediate;
        loop {
            let holder = self.0.load(Ordering::Acquire);
            if holder == ENDED {
                return Ok(TokenWait::Ended);
            }
            if holder == me as u32 {
                return Ok(taken);
            }
            match futex::wait(&self.0, Flags::PRIVATE, holder, None) {
                Ok(()) => taken = TokenWait::Slept,
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(errno) => return Err(LimitError::refused("futex")(errno)),
            }
        }
    }

    /// Ends the exchange for both threads.
    pub(super) fn end(&self) {
        self.0.store(ENDED, Ordering::Release);
        // If the wake is refused here, it was also refused where it is reported.
        let _ = futex::wake(&self.0, Flags::PRIVATE, 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_the_token_takes_it_awake_and_the_other_sleeps_for_it() {
        let token = Token::new();
        assert_eq!(token.take(Holder::Leader), Ok(TokenWait::Immediate));
        let taken = std::thread::scope(|scope| {
            let follower = scope.spawn(|| token.take(Holder::Follower));
            std::thread::sleep(std::time::Duration::from_millis(20));
            token.pass(Holder::Leader, Holder::Follower).unwrap();
            follower.join().unwrap()
        });
        assert_ne!(taken, Ok(TokenWait::Ended));
    }

    #[test]
    fn what_is_over_stays_over() {
        let token = Token::new();
        token.end();
        token.pass(Holder::Leader, Holder::Follower).unwrap();
        assert_eq!(token.take(Holder::Follower), Ok(TokenWait::Ended));
    }

    #[test]
    fn the_end_wakes_a_sleeper() {
        let token = Token::new();
        std::thread::scope(|scope| {
            let follower = scope.spawn(|| token.take(Holder::Follower));
            std::thread::sleep(std::time::Duration::from_millis(5));
            token.end();
            assert_eq!(follower.join().unwrap(), Ok(TokenWait::Ended));
        });
    }
}
