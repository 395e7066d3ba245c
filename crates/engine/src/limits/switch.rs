//! A switch on one CPU: the floor under every exchange of two parties that share one.
//!
//! Two threads on one CPU hand a token back and forth, asleep while the other has it, through a
//! private futex: of the hand-overs that block, the one that goes through the fewest layers of the
//! kernel. One switch is half a round trip. Inside it are a `FUTEX_WAKE` that finds a sleeper, a
//! `FUTEX_WAIT` that goes to sleep, and the scheduler's change from one thread to another in the
//! same address space; parties in two processes pay for the change of address space on top.
//!
//! References: [futex(2)](https://man7.org/linux/man-pages/man2/futex.2.html).

use std::time::Duration;

use super::median::median;
use super::threads::{Duet, together};
use super::unmeasured::Unmeasured;
use crate::clock::now_ns;
use crate::limits::ping_pong::{Holder, Taken, Token};

/// Round trips between two readings of the clock.
const BATCH: u64 = 20;

struct Switching {
    token: Token,
    duration: Duration,
}

impl Duet for Switching {
    type Measured = Vec<u64>;

    fn lead(&self) -> Result<Vec<u64>, Unmeasured> {
        let (start, mut batches_ns) = (now_ns(), Vec::new());
        let mut last = start;
        while u128::from(last - start) < self.duration.as_nanos() {
            for _ in 0..BATCH {
                self.token.pass(Holder::Leader, Holder::Follower)?;
                if self.token.take(Holder::Leader)? == Taken::Over {
                    return Ok(batches_ns);
                }
            }
            let now = now_ns();
            batches_ns.push(now - last);
            last = now;
        }
        Ok(batches_ns)
    }

    fn follow(&self) {
        // A refusal is told by the leader, who makes the same calls.
        while let Ok(Taken::Asleep | Taken::Awake) = self.token.take(Holder::Follower) {
            if self.token.pass(Holder::Follower, Holder::Leader).is_err() {
                break;
            }
        }
    }

    fn stop(&self) {
        self.token.end();
    }
}

/// One switch between two threads on `cpu`, ns: half of the median round trip over `duration`.
///
/// # Errors
/// Two threads on `cpu` cannot be had, futexes are refused, or not one batch came to an end within
/// ten times `duration`.
#[allow(clippy::cast_precision_loss, reason = "microseconds in ns")]
pub fn switch_ns(cpu: u32, duration: Duration) -> Result<f64, Unmeasured> {
    let bound = 10 * duration;
    let batches_ns = together([cpu; 2], bound, &Switching { token: Token::new(), duration })?;
    let batch_ns = median(batches_ns).ok_or(Unmeasured::TooBusy { after: bound })?;
    Ok(batch_ns as f64 / (2 * BATCH) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::system_call::system_call_ns;
    use crate::placement::Topology;

    #[test]
    fn a_switch_is_dearer_than_the_cheapest_call() {
        let cpu = Topology::read().unwrap().cpus[0].number;
        let duration = Duration::from_millis(20);
        let call_ns = system_call_ns(duration).unwrap();
        match switch_ns(cpu, duration) {
            Ok(switch_ns) => assert!(switch_ns > call_ns, "{switch_ns} {call_ns}"),
            Err(reason) => assert!(matches!(reason, Unmeasured::TooBusy { .. }), "{reason}"),
        }
    }
}
