//! A futex wake across CPUs: the floor under every exchange in which the other party sleeps.
//!
//! Two threads on two CPUs wake each other in turn through a private futex. Each takes its time
//! before it wakes the other, so that the other really sleeps and its CPU has gone idle. A wake
//! lasts from a reading of the clock just before the `FUTEX_WAKE` to one in the woken thread just
//! after its `FUTEX_WAIT` has returned. There and back are averaged, which cancels a difference
//! between the clocks of two CPUs; the figure is the median over such pairs. In it are the wake
//! call, the interrupt to the other CPU, that CPU's way out of idleness, and the switch to the
//! woken thread. How deep a CPU falls in [`SETTLE_NS`] is up to the machine: deeper sleep is dearer.
//!
//! References: [futex(2)](https://man7.org/linux/man-pages/man2/futex.2.html).

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::median::median;
use super::threads::{Duet, together};
use super::unmeasured::Unmeasured;
use crate::clock::now_ns;
use crate::limits::ping_pong::{Holder, Taken, Token};

/// How long the other is given to fall asleep: many times what a wait call takes.
const SETTLE_NS: u64 = 50_000;
/// What the follower says of a wake that found it awake.
const AWAKE: u64 = 0;

struct Waking {
    token: Token,
    duration: Duration,
    /// When the follower had been woken, ns on the clock, or [`AWAKE`].
    follower_woken: AtomicU64,
    /// When the follower was about to wake the leader, ns on the clock.
    follower_wakes: AtomicU64,
}

impl Waking {
    fn new(duration: Duration) -> Self {
        let never = || AtomicU64::new(AWAKE);
        let (follower_woken, follower_wakes) = (never(), never());
        Self { token: Token::new(), duration, follower_woken, follower_wakes }
    }

    /// Wakes the follower and is woken by it: how long the two wakes took, ns. `None` where either
    /// found the other awake.
    fn there_and_back(&self) -> Result<(Taken, Option<u64>), Unmeasured> {
        let wakes = settle();
        self.token.pass(Holder::Leader, Holder::Follower)?;
        let taken = self.token.take(Holder::Leader)?;
        let woken = now_ns();
        let follower_woken = self.follower_woken.load(Ordering::Relaxed);
        let follower_wakes = self.follower_wakes.load(Ordering::Relaxed);
        let slept = taken == Taken::Asleep && follower_woken != AWAKE;
        let both_ns = two_wakes_ns([wakes, woken], [follower_woken, follower_wakes]);
        Ok((taken, slept.then_some(both_ns)))
    }

    /// Waits to be woken, and wakes the leader.
    fn answer(&self) -> Result<Taken, Unmeasured> {
        let taken = self.token.take(Holder::Follower)?;
        let woken = if taken == Taken::Asleep { now_ns() } else { AWAKE };
        self.follower_woken.store(woken, Ordering::Relaxed);
        self.follower_wakes.store(settle(), Ordering::Relaxed);
        self.token.pass(Holder::Follower, Holder::Leader)?;
        Ok(taken)
    }
}

/// What two wakes took, there and back, ns: the time the leader saw pass, without what the follower
/// took between them. So it does not matter how far apart the clocks of the two CPUs are.
fn two_wakes_ns(leader: [u64; 2], follower: [u64; 2]) -> u64 {
    let pause_ns = follower[1].saturating_sub(follower[0]);
    leader[1].saturating_sub(leader[0]).saturating_sub(pause_ns)
}

/// Looks at the clock until the other has had time to fall asleep; the last reading, ns.
fn settle() -> u64 {
    let start = now_ns();
    loop {
        let now = now_ns();
        if now - start >= SETTLE_NS {
            return now;
        }
        spin_loop();
    }
}

impl Duet for Waking {
    type Measured = Vec<u64>;

    fn lead(&self) -> Result<Vec<u64>, Unmeasured> {
        let (start, mut wakes_ns) = (now_ns(), Vec::new());
        while u128::from(now_ns() - start) < self.duration.as_nanos() {
            let (taken, both_ns) = self.there_and_back()?;
            if taken == Taken::Over {
                break;
            }
            wakes_ns.extend(both_ns);
        }
        Ok(wakes_ns)
    }

    fn follow(&self) {
        // A refusal is told by the leader, who makes the same calls.
        while let Ok(Taken::Asleep | Taken::Awake) = self.answer() {}
    }

    fn stop(&self) {
        self.token.end();
    }
}

/// One wake of a thread that sleeps on the other of `cpus`, one way, ns: half the median of there
/// and back, over `duration`.
///
/// # Errors
/// Threads on `cpus` cannot be had, futexes are refused, or no wake found the other asleep within
/// ten times `duration`.
#[allow(clippy::cast_precision_loss, reason = "microseconds in ns")]
pub fn futex_wake_ns(cpus: [u32; 2], duration: Duration) -> Result<f64, Unmeasured> {
    let bound = 10 * duration;
    let wakes_ns = together(cpus, bound, &Waking::new(duration))?;
    let both_ns = median(wakes_ns).ok_or(Unmeasured::TooBusy { after: bound })?;
    Ok(both_ns as f64 / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_wakes_are_what_the_follower_did_not_take() {
        for ahead in [0, 1_000_000] {
            let follower = [1_030 + ahead, 1_090 + ahead];
            assert_eq!(two_wakes_ns([1_000, 1_115], follower), 30 + 25);
        }
    }

    /// On whichever CPUs the scheduler chooses: what is counted as wakes, and the rests of both
    /// before them, fit into the time that has passed.
    #[test]
    fn a_wake_is_without_the_time_both_take_to_settle() {
        let waking = Waking::new(Duration::from_millis(20));
        let start = now_ns();
        let wakes_ns = std::thread::scope(|scope| {
            scope.spawn(|| waking.follow());
            let wakes_ns = waking.lead();
            waking.stop();
            wakes_ns.unwrap()
        });
        let elapsed_ns = now_ns() - start;
        let rests_ns = 2 * SETTLE_NS * wakes_ns.len() as u64;
        assert!(wakes_ns.iter().all(|&both_ns| both_ns > 0), "{wakes_ns:?}");
        assert!(wakes_ns.iter().sum::<u64>() + rests_ns <= elapsed_ns, "{wakes_ns:?}");
    }
}
