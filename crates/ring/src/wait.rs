//! Waiting and waking of the two sides.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

use crate::Error;
use crate::liveness::Lifeline;
use crate::sync::{AtomicU32, Ordering, WakeReason, fence, futex_wait, futex_wake, yield_now};

/// Initial time to poll before sleeping: longer than the cost of a wake-up, shorter than the other side's time slice.
const SPIN: Duration = Duration::from_micros(20);

/// Maximum time to poll if sleeps have turned out to be short: for longer waits the cost of a wake-up is negligible.
const MAX_SPIN: Duration = Duration::from_millis(1);

/// Polls before the first PAUSE instruction, which takes as long as a cache line between CPUs near each other.
const EAGER_POLLS: u32 = 64;

/// Maximum wait before checking whether the other side is still alive. Longer than the tick of any kernel, so that
/// setting it moves no timer.
const LIVENESS_CHECK_INTERVAL: Duration = Duration::from_millis(32);

/// Maximum further wait after a sleep that ended early without a result. Also longer than a tick, and together with
/// [`LIVENESS_CHECK_INTERVAL`] less than the promised time to detect a death.
const EARLY_WAKE_LIMIT: Duration = Duration::from_millis(16);

/// Time within which a death is detected on an otherwise idle machine.
const DETECTION_TIME: Duration = Duration::from_millis(50);
const _: () = assert!(
    LIVENESS_CHECK_INTERVAL.as_millis() + EARLY_WAKE_LIMIT.as_millis() < DETECTION_TIME.as_millis()
);

/// How a side waits if it cannot proceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitStrategy {
    /// Poll for 20 µs, then sleep on a futex. Poll for longer, up to 1 ms, while sleeps turn out to be shorter than
    /// that. For sides on separate CPUs.
    SpinThenFutex,
    /// Poll for this long, then sleep on a futex. For sides on separate CPUs.
    SpinFor(Duration),
    /// Poll, and never sleep. For sides on separate CPUs.
    Spin,
    /// Sleep on a futex at once.
    Futex,
    /// Yield the CPU and poll again. For sides that share one CPU.
    Yield,
    /// Yield the CPU and poll again for this long, then sleep on a futex. For sides that share one CPU.
    YieldFor(Duration),
    /// Do not wait: return [`Error::WouldBlock`].
    NonBlocking,
}

/// Waits and wakes in one of these ways, and counts the system calls.
#[derive(Debug)]
pub(crate) struct Waiter {
    waiting: WaitStrategy,
    lifeline: Lifeline,
    /// Time to poll before sleeping.
    spin: Duration,
    /// Whether the other side was found dead or has announced that it is gone; either is final.
    peer_gone: bool,
    calls: u64,
}

/// State of a wait that is visible to the other side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedFlags<'a> {
    /// 1 while this side sleeps or is about to sleep.
    pub(crate) sleeps: &'a AtomicU32,
    /// 1 once either side has announced that it is gone.
    pub(crate) closed: &'a AtomicU32,
}

impl Waiter {
    pub(crate) fn new(waiting: WaitStrategy, life: Lifeline) -> Self {
        Self { waiting, lifeline: life, spin: SPIN, peer_gone: false, calls: 0 }
    }

    /// Number of system calls since the last query.
    pub(crate) fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }

    /// Waits until `look` finds a value, and returns it. It reads shared memory, which the other side may change at any
    /// time, so the value is returned as it was found and not read again.
    ///
    /// # Errors
    /// Returns [`Error::PeerGone`] once the other side is gone and nothing is found, and [`Error::WouldBlock`] if the
    /// ring does not wait.
    #[cold]
    pub(crate) fn wait_until<T>(
        &mut self,
        look: impl Fn() -> Option<T>,
        notices: SharedFlags<'_>,
    ) -> Result<T, Error> {
        let mut patience = LivenessTimer::default();
        loop {
            // Read before `look`: records completed before the other side left still count.
            self.peer_gone |= notices.closed.load(Ordering::Acquire) != 0;
            if let Some(found) = look() {
                return Ok(found);
            }
            if self.peer_gone {
                return Err(Error::PeerGone);
            }
            let waited = match self.waiting {
                WaitStrategy::NonBlocking => return Err(Error::WouldBlock),
                WaitStrategy::Yield => self.yield_until(&look, notices, LIVENESS_CHECK_INTERVAL),
                WaitStrategy::YieldFor(limit) => match self.yield_until(&look, notices, limit) {
                    Err(WakeReason::TimedOut) => self.sleep(&look, notices, patience.remaining()),
                    ended => ended,
                },
                WaitStrategy::Futex => self.sleep(&look, notices, patience.remaining()),
                WaitStrategy::SpinThenFutex => self.spin_then_sleep(&look, notices, &patience),
                WaitStrategy::SpinFor(limit) => match spin(&look, limit) {
                    Some(found) => Ok(found),
                    None => self.sleep(&look, notices, patience.remaining()),
                },
                WaitStrategy::Spin => {
                    spin(&look, LIVENESS_CHECK_INTERVAL).ok_or(WakeReason::TimedOut)
                }
            };
            match waited {
                Ok(found) => return Ok(found),
                Err(woken) if woken == WakeReason::TimedOut || patience.check_expired() => {
                    self.calls += 1;
                    self.peer_gone = self.lifeline.is_cut();
                    patience = LivenessTimer::default();
                }
                Err(_) => {}
            }
        }
    }

    fn spin_then_sleep<T>(
        &mut self,
        look: &impl Fn() -> Option<T>,
        notices: SharedFlags<'_>,
        patience: &LivenessTimer,
    ) -> Result<T, WakeReason> {
        if let Some(found) = spin(look, self.spin) {
            return Ok(found);
        }
        let asleep = Instant::now();
        let waited = self.sleep(look, notices, patience.remaining());
        self.adapt_spin(asleep.elapsed());
        waited
    }

    /// Adapts the polling time: after a sleep that slightly longer polling would have avoided, the next wait polls for
    /// longer.
    fn adapt_spin(&mut self, slept: Duration) {
        self.spin = if slept > MAX_SPIN { SPIN } else { MAX_SPIN.min(2 * self.spin) };
    }

    /// Yields the CPU until something is found, for `limit` at most.
    fn yield_until<T>(
        &mut self,
        look: &impl Fn() -> Option<T>,
        notices: SharedFlags<'_>,
        limit: Duration,
    ) -> Result<T, WakeReason> {
        let mut end = None;
        loop {
            self.calls += 1;
            yield_now();
            if let Some(found) = look() {
                return Ok(found);
            }
            if notices.closed.load(Ordering::Acquire) != 0 {
                return Err(WakeReason::Otherwise);
            }
            // Checked after each yield, since each may last as long as the time slice of another program.
            let now = Instant::now();
            if now > *end.get_or_insert(now + limit) {
                return Err(WakeReason::TimedOut);
            }
        }
    }

    /// Announces the sleep, polls once more, sleeps for `limit` at most, and polls. The fence pairs with the one in
    /// [`Waiter::wake`]: either this side sees the other's last store, or the other side sees the announcement.
    fn sleep<T>(
        &mut self,
        look: &impl Fn() -> Option<T>,
        notices: SharedFlags<'_>,
        limit: Duration,
    ) -> Result<T, WakeReason> {
        let SharedFlags { sleeps, closed } = notices;
        sleeps.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let mut woken = WakeReason::Otherwise;
        let mut found = look();
        if found.is_none() && closed.load(Ordering::Acquire) == 0 {
            self.calls += 1;
            woken = futex_wait(sleeps, limit);
            found = look();
        }
        sleeps.store(0, Ordering::Relaxed);
        found.ok_or(woken)
    }

    /// Wakes the other side if it announced its sleep on `sleeps`.
    #[inline]
    pub(crate) fn wake(&mut self, sleeps: &AtomicU32) {
        if matches!(
            self.waiting,
            WaitStrategy::Spin | WaitStrategy::Yield | WaitStrategy::NonBlocking
        ) {
            return;
        }
        fence(Ordering::SeqCst);
        if sleeps.load(Ordering::Relaxed) != 0 && sleeps.swap(0, Ordering::Relaxed) != 0 {
            self.calls += 1;
            futex_wake(sleeps);
        }
    }
}

/// Time limit of a wait before checking whether the other side is alive. Repeated signals, or a side that writes to the
/// futex word, can end each sleep early without a result; the clock is read only once that has happened.
#[derive(Debug, Default)]
struct LivenessTimer {
    end: Option<Instant>,
}

impl LivenessTimer {
    /// Maximum time to sleep.
    fn remaining(&self) -> Duration {
        self.end
            .map_or(LIVENESS_CHECK_INTERVAL, |end| end.saturating_duration_since(Instant::now()))
    }

    /// Whether the limit has passed, checked after a sleep that ended early without a result.
    fn check_expired(&mut self) -> bool {
        let now = Instant::now();
        now >= *self.end.get_or_insert(now + EARLY_WAKE_LIMIT)
    }
}

/// Polls without pause for about one cache-line round trip between CPUs near each other, then for `limit` with one
/// PAUSE per poll, reading the clock at every sixteenth.
fn spin<T>(look: &impl Fn() -> Option<T>, limit: Duration) -> Option<T> {
    if let Some(found) = (0..EAGER_POLLS).find_map(|_| look()) {
        return Some(found);
    }
    let mut end = None;
    loop {
        for _ in 0..16 {
            if let Some(found) = look() {
                return Some(found);
            }
            spin_loop();
        }
        let now = Instant::now();
        if now > *end.get_or_insert(now + limit) {
            return None;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::liveness::lifelines;

    const WAITS: [WaitStrategy; 6] = [
        WaitStrategy::SpinThenFutex,
        WaitStrategy::SpinFor(Duration::from_micros(20)),
        WaitStrategy::Spin,
        WaitStrategy::Futex,
        WaitStrategy::Yield,
        WaitStrategy::YieldFor(Duration::from_micros(20)),
    ];

    #[test]
    fn what_a_wait_found_is_not_looked_for_again() {
        let (sleeps, closed) = (AtomicU32::new(0), AtomicU32::new(0));
        let notices = SharedFlags { sleeps: &sleeps, closed: &closed };
        for waiting in WAITS {
            // Found by the first poll, while spinning, while yielding, and before and after a sleep.
            for needed in [1, 2, 3, 4, 70, 71] {
                let (life, _other) = lifelines().unwrap();
                let looks = Cell::new(0);
                let look = || {
                    looks.set(looks.get() + 1);
                    (looks.get() >= needed).then_some(looks.get())
                };
                assert_eq!(Waiter::new(waiting, life).wait_until(look, notices), Ok(needed));
                assert_eq!(looks.get(), needed, "{waiting:?}");
            }
        }
    }

    #[test]
    fn a_side_that_polls_for_a_limited_time_sleeps_after_it() {
        let (sleeps, closed) = (&AtomicU32::new(0), &AtomicU32::new(0));
        let limit = Duration::from_micros(200);
        for waiting in [WaitStrategy::SpinFor(limit), WaitStrategy::YieldFor(limit)] {
            let (life, _other) = lifelines().unwrap();
            let start = Instant::now();
            // Finally finds a value, so that an endless wait fails the test instead of hanging it.
            let look = || {
                let announced = sleeps.load(Ordering::Relaxed) == 1;
                (announced || start.elapsed() > Duration::from_secs(20)).then(|| start.elapsed())
            };
            let notices = SharedFlags { sleeps, closed };
            let found = Waiter::new(waiting, life).wait_until(look, notices).unwrap();
            assert!((limit..Duration::from_secs(20)).contains(&found), "{waiting:?}: {found:?}");
        }
    }

    #[test]
    fn sleeps_that_are_ended_again_and_again_hide_no_death() {
        let (sleeps, closed) = (&AtomicU32::new(0), &AtomicU32::new(0));
        for waiting in WAITS {
            let (life, other) = lifelines().unwrap();
            drop(other);
            let start = Instant::now();
            // Resets the word between the announcement and each sleep, which thereby ends at once. Finally finds a
            // value, so that an endless wait fails the test instead of hanging it.
            let look = || {
                sleeps.store(0, Ordering::Relaxed);
                (start.elapsed() > Duration::from_secs(20)).then_some(())
            };
            let found = Waiter::new(waiting, life).wait_until(look, SharedFlags { sleeps, closed });
            assert_eq!(found, Err(Error::PeerGone), "{waiting:?}");
        }
    }
}
