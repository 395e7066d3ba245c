//! Futex wake across CPUs: the lower bound of every exchange in which the other peer sleeps.
//!
//! Two threads on two CPUs wake each other in turn through a private futex. Each pauses before it wakes the other, so
//! that the other really sleeps and its CPU has gone idle. A wake lasts from a reading of the clock just before the
//! `FUTEX_WAKE` to one in the woken thread just after its `FUTEX_WAIT` has returned. The figure averages both
//! directions, which cancels a difference between the clocks of two CPUs; it is the median over such pairs. It includes
//! the wake call, the interrupt to the other CPU, that CPU's exit from idle, and the switch to the woken thread. The
//! depth of the idle state that a CPU reaches in `SETTLE_NS` depends on the machine; deeper states take longer to
//! leave.
//!
//! References: [futex(2)](https://man7.org/linux/man-pages/man2/futex.2.html).

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::error::LimitError;
use super::median::median;
use super::ping_pong::{Holder, Token, TokenWait};
use super::threads::{PairMeasurement, run_pair};
use crate::clock::now_ns;

/// Time for the other thread to fall asleep, ns: many times the duration of a wait call.
const SETTLE_NS: u64 = 50_000;
/// Value that the follower stores for a wake that found it awake.
const AWAKE: u64 = 0;

struct WakeMeasurement {
    token: Token,
    duration: Duration,
    /// Time when the follower had been woken, ns on the clock, or [`AWAKE`].
    follower_woken: AtomicU64,
    /// Time when the follower was about to wake the leader, ns on the clock.
    follower_wakes: AtomicU64,
}

impl WakeMeasurement {
    fn new(duration: Duration) -> Self {
        let never = || AtomicU64::new(AWAKE);
        let (follower_woken, follower_wakes) = (never(), never());
        Self { token: Token::new(), duration, follower_woken, follower_wakes }
    }

    /// Wakes the follower and waits for its wake. Returns the duration of the two wakes, ns; `None` if either found the
    /// other awake.
    fn round_trip(&self) -> Result<(TokenWait, Option<u64>), LimitError> {
        let wakes = spin_until_asleep();
        self.token.pass(Holder::Leader, Holder::Follower)?;
        let taken = self.token.take(Holder::Leader)?;
        let woken = now_ns();
        let follower_woken = self.follower_woken.load(Ordering::Relaxed);
        let follower_wakes = self.follower_wakes.load(Ordering::Relaxed);
        let slept = taken == TokenWait::Slept && follower_woken != AWAKE;
        let both_ns = two_wakes_ns([wakes, woken], [follower_woken, follower_wakes]);
        Ok((taken, slept.then_some(both_ns)))
    }

    /// Waits to be woken, and wakes the leader.
    fn respond(&self) -> Result<TokenWait, LimitError> {
        let taken = self.token.take(Holder::Follower)?;
        let woken = if taken == TokenWait::Slept { now_ns() } else { AWAKE };
        self.follower_woken.store(woken, Ordering::Relaxed);
        self.follower_wakes.store(spin_until_asleep(), Ordering::Relaxed);
        self.token.pass(Holder::Follower, Holder::Leader)?;
        Ok(taken)
    }
}

/// Duration of two wakes, there and back, ns: the time that passed for the leader minus the follower's time between
/// them. The offset between the clocks of the two CPUs cancels.
fn two_wakes_ns(leader: [u64; 2], follower: [u64; 2]) -> u64 {
    let pause_ns = follower[1].saturating_sub(follower[0]);
    leader[1].saturating_sub(leader[0]).saturating_sub(pause_ns)
}

/// Spins until the other thread has had time to fall asleep; returns the last reading of the clock, ns.
fn spin_until_asleep() -> u64 {
    let start = now_ns();
    loop {
        let now = now_ns();
        if now - start >= SETTLE_NS {
            return now;
        }
        spin_loop();
    }
}

impl PairMeasurement for WakeMeasurement {
    type Output = Vec<u64>;

    fn lead(&self) -> Result<Vec<u64>, LimitError> {
        let (start, mut wakes_ns) = (now_ns(), Vec::new());
        while u128::from(now_ns() - start) < self.duration.as_nanos() {
            let (taken, both_ns) = self.round_trip()?;
            if taken == TokenWait::Ended {
                break;
            }
            wakes_ns.extend(both_ns);
        }
        Ok(wakes_ns)
    }

    fn follow(&self) {
        // The leader makes the same calls and reports a refusal.
        while let Ok(TokenWait::Slept | TokenWait::Immediate) = self.respond() {}
    }

    fn stop(&self) {
        self.token.end();
    }
}

/// Duration of one wake of a thread that sleeps on the other of `cpus`, ns: half the median of both directions, over
/// `duration`.
///
/// # Errors
/// Returns an error if threads on `cpus` are not available, if futexes are refused, or if no wake found the other
/// thread asleep within ten times `duration`.
#[allow(clippy::cast_precision_loss, reason = "microseconds in ns")]
pub fn futex_wake_ns(cpus: [u32; 2], duration: Duration) -> Result<f64, LimitError> {
    let bound = 10 * duration;
    let wakes_ns = run_pair(cpus, bound, &WakeMeasurement::new(duration))?;
    let both_ns = median(wakes_ns).ok_or(LimitError::TooBusy { after: bound })?;
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

    /// The scheduler chooses the CPUs. The counted wakes and the pauses before them fit into the elapsed time.
    #[test]
    fn a_wake_is_without_the_time_both_take_to_settle() {
        let waking = WakeMeasurement::new(Duration::from_millis(20));
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
