//! How a side of the ring waits, and how it is woken.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

use crate::Error;
use crate::life::Lifeline;
use crate::sync::{AtomicU32, Ordering, Woken, fence, futex_wait, futex_wake, give_way};

/// How long to look before sleeping, at first: longer than a wake-up's own cost would lose, shorter than
/// the other side's time slice.
const SPIN: Duration = Duration::from_micros(20);

/// How long to look, at most, where sleeps have turned out to be short: beyond it a wake-up is little beside
/// what was waited for.
const LONGEST_SPIN: Duration = Duration::from_millis(1);

/// Looks before the first PAUSE, which would take as long as the whole way of a line between near
/// CPUs.
const EAGER_LOOKS: u32 = 64;

/// How long to wait, at most, before looking whether the other side still lives. Beyond the next tick
/// of any kernel, so that setting it moves no timer.
const PATIENCE: Duration = Duration::from_millis(32);

/// How long to wait on, at most, after a sleep that ended early for nothing. Beyond the next tick too, and
/// with [`PATIENCE`] less than what is promised for noticing a death.
const REST: Duration = Duration::from_millis(16);

/// Time within which a death is noticed, on a machine that has nothing else to do.
const NOTICED_WITHIN: Duration = Duration::from_millis(50);
const _: () = assert!(PATIENCE.as_millis() + REST.as_millis() < NOTICED_WITHIN.as_millis());

/// How a side waits when it can do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Look for 20 us, then sleep on a futex; look longer, up to 1 ms, as long as sleeps turn out to be
    /// shorter than that. For sides on CPUs of their own.
    SpinThenFutex,
    /// Sleep on a futex at once.
    Futex,
    /// Give up the CPU and look again. For sides that share one CPU.
    Yield,
    /// Do not wait: return [`Error::WouldBlock`].
    Never,
}

/// Waits and wakes as its kind says, and counts the system calls that took.
#[derive(Debug)]
pub(crate) struct Waiter {
    waiting: Waiting,
    life: Lifeline,
    /// How long to look before sleeping.
    spin: Duration,
    /// Whether the other side was found dead or has said that it goes; either is final.
    is_alone: bool,
    calls: u64,
}

/// What the other side sees of a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notices<'a> {
    /// 1 while this side sleeps or is about to.
    pub(crate) sleeps: &'a AtomicU32,
    /// 1 once either side has said that it is gone.
    pub(crate) closed: &'a AtomicU32,
}

impl Waiter {
    pub(crate) fn new(waiting: Waiting, life: Lifeline) -> Self {
        Self { waiting, life, spin: SPIN, is_alone: false, calls: 0 }
    }

    /// System calls made since this was last asked.
    pub(crate) fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }

    /// Returns what `look` finds once it finds something. It looks at shared memory, which the other side
    /// may change at any time: what it found is returned as it was found, and not looked for again.
    ///
    /// # Errors
    /// [`Error::PeerGone`] once the other side is gone and nothing is found; [`Error::WouldBlock`]
    /// where it may not wait.
    #[cold]
    pub(crate) fn until<T>(
        &mut self,
        look: impl Fn() -> Option<T>,
        notices: Notices<'_>,
    ) -> Result<T, Error> {
        let mut patience = Patience::default();
        loop {
            // Read before `look`: what was complete before the other side left still counts.
            self.is_alone |= notices.closed.load(Ordering::Acquire) != 0;
            if let Some(found) = look() {
                return Ok(found);
            }
            if self.is_alone {
                return Err(Error::PeerGone);
            }
            let waited = match self.waiting {
                Waiting::Never => return Err(Error::WouldBlock),
                Waiting::Yield => self.give_way(&look, notices),
                Waiting::Futex => self.sleep(&look, notices, patience.left()),
                Waiting::SpinThenFutex => self.spin_then_sleep(&look, notices, &patience),
            };
            match waited {
                Ok(found) => return Ok(found),
                Err(woken) if woken == Woken::ByTime || patience.is_over() => {
                    self.calls += 1;
                    self.is_alone = self.life.is_cut();
                    patience = Patience::default();
                }
                Err(_) => {}
            }
        }
    }

    fn spin_then_sleep<T>(
        &mut self,
        look: &impl Fn() -> Option<T>,
        notices: Notices<'_>,
        patience: &Patience,
    ) -> Result<T, Woken> {
        if let Some(found) = spin(look, self.spin) {
            return Ok(found);
        }
        let asleep = Instant::now();
        let waited = self.sleep(look, notices, patience.left());
        self.learn(asleep.elapsed());
        waited
    }

    /// What would have been seen by looking a little longer is looked for longer next time.
    fn learn(&mut self, slept: Duration) {
        self.spin = if slept > LONGEST_SPIN { SPIN } else { LONGEST_SPIN.min(2 * self.spin) };
    }

    /// Gives up the CPU until something is found, for [`PATIENCE`] at most.
    fn give_way<T>(
        &mut self,
        look: &impl Fn() -> Option<T>,
        notices: Notices<'_>,
    ) -> Result<T, Woken> {
        let mut end = None;
        loop {
            self.calls += 1;
            give_way();
            if let Some(found) = look() {
                return Ok(found);
            }
            if notices.closed.load(Ordering::Acquire) != 0 {
                return Err(Woken::Otherwise);
            }
            // At each, since each may last as long as another's time slice.
            let now = Instant::now();
            if now > *end.get_or_insert(now + PATIENCE) {
                return Err(Woken::ByTime);
            }
        }
    }

    /// Announces, looks once more, sleeps for `limit` at most, looks. The fence pairs with the one in
    /// [`Waiter::wake`]: either this side sees what the other has just done, or the other sees the
    /// announcement.
    fn sleep<T>(
        &mut self,
        look: &impl Fn() -> Option<T>,
        notices: Notices<'_>,
        limit: Duration,
    ) -> Result<T, Woken> {
        let Notices { sleeps, closed } = notices;
        sleeps.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let mut woken = Woken::Otherwise;
        let mut found = look();
        if found.is_none() && closed.load(Ordering::Acquire) == 0 {
            self.calls += 1;
            woken = futex_wait(sleeps, limit);
            found = look();
        }
        sleeps.store(0, Ordering::Relaxed);
        found.ok_or(woken)
    }

    /// Wakes the other side if it announced on `sleeps` that it sleeps.
    #[inline]
    pub(crate) fn wake(&mut self, sleeps: &AtomicU32) {
        if matches!(self.waiting, Waiting::Yield | Waiting::Never) {
            return;
        }
        fence(Ordering::SeqCst);
        if sleeps.load(Ordering::Relaxed) != 0 && sleeps.swap(0, Ordering::Relaxed) != 0 {
            self.calls += 1;
            futex_wake(sleeps);
        }
    }
}

/// How long a wait goes on before it looks whether the other side still lives. A signal that comes again
/// and again, or a side that writes to the word that is slept on, ends each sleep early, for nothing; the
/// clock is read once that has happened.
#[derive(Debug, Default)]
struct Patience {
    end: Option<Instant>,
}

impl Patience {
    /// How long to sleep at most.
    fn left(&self) -> Duration {
        self.end.map_or(PATIENCE, |end| end.saturating_duration_since(Instant::now()))
    }

    /// Whether it is over, asked when a sleep has ended early for nothing.
    fn is_over(&mut self) -> bool {
        let now = Instant::now();
        now >= *self.end.get_or_insert(now + REST)
    }
}

/// Looks without pause for as long as a cache line takes to come and go between near CPUs, then for
/// `limit` with one PAUSE for each look, reading the clock at every sixteenth.
fn spin<T>(look: &impl Fn() -> Option<T>, limit: Duration) -> Option<T> {
    if let Some(found) = (0..EAGER_LOOKS).find_map(|_| look()) {
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
    use crate::life::lifelines;

    const WAITS: [Waiting; 3] = [Waiting::SpinThenFutex, Waiting::Futex, Waiting::Yield];

    #[test]
    fn what_a_wait_found_is_not_looked_for_again() {
        let (sleeps, closed) = (AtomicU32::new(0), AtomicU32::new(0));
        let notices = Notices { sleeps: &sleeps, closed: &closed };
        for waiting in WAITS {
            // Found by the first look, while spinning, while giving way, before and after a sleep.
            for needed in [1, 2, 3, 4, 70, 71] {
                let (life, _other) = lifelines().unwrap();
                let looks = Cell::new(0);
                let look = || {
                    looks.set(looks.get() + 1);
                    (looks.get() >= needed).then_some(looks.get())
                };
                assert_eq!(Waiter::new(waiting, life).until(look, notices), Ok(needed));
                assert_eq!(looks.get(), needed, "{waiting:?}");
            }
        }
    }

    #[test]
    fn sleeps_that_are_ended_again_and_again_hide_no_death() {
        let (sleeps, closed) = (&AtomicU32::new(0), &AtomicU32::new(0));
        for waiting in WAITS {
            let (life, other) = lifelines().unwrap();
            drop(other);
            let start = Instant::now();
            // Between the announcement and each sleep, which thereby ends at once; in the end something
            // is found, so that a wait without end is a failure.
            let look = || {
                sleeps.store(0, Ordering::Relaxed);
                (start.elapsed() > Duration::from_secs(20)).then_some(())
            };
            let found = Waiter::new(waiting, life).until(look, Notices { sleeps, closed });
            assert_eq!(found, Err(Error::PeerGone), "{waiting:?}");
        }
    }
}
