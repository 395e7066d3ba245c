//! Context switch on one CPU: the lower bound of every exchange between two peers that share a CPU.
//!
//! Two threads on one CPU pass a token back and forth through a private futex, each asleep while the other has it. Of
//! the blocking primitives, a futex passes through the fewest layers of the kernel. One switch is half a round trip. It
//! includes a `FUTEX_WAKE` that finds a sleeper, a `FUTEX_WAIT` that goes to sleep, and the scheduler's switch between
//! two threads of the same address space. Peers in two processes pay for the change of address space as well.
//!
//! References: [futex(2)](https://man7.org/linux/man-pages/man2/futex.2.html).

use std::time::Duration;

use super::error::LimitError;
use super::median::median;
use super::ping_pong::{Holder, Token, TokenWait};
use super::threads::{PairMeasurement, run_pair};
use crate::clock::now_ns;

/// Round trips between two readings of the clock.
const BATCH: u64 = 20;

struct SwitchMeasurement {
    token: Token,
    duration: Duration,
}

impl PairMeasurement for SwitchMeasurement {
    type Output = Vec<u64>;

    fn lead(&self) -> Result<Vec<u64>, LimitError> {
        let (start, mut batches_ns) = (now_ns(), Vec::new());
        let mut last = start;
        while u128::from(last - start) < self.duration.as_nanos() {
            for _ in 0..BATCH {
                self.token.pass(Holder::Leader, Holder::Follower)?;
                if self.token.take(Holder::Leader)? == TokenWait::Ended {
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
        // The leader makes the same calls and reports a refusal.
        while let Ok(TokenWait::Slept | TokenWait::Immediate) = self.token.take(Holder::Follower) {
            if self.token.pass(Holder::Follower, Holder::Leader).is_err() {
                break;
            }
        }
    }

    fn stop(&self) {
        self.token.end();
    }
}

/// Duration of one switch between two threads on `cpu`, ns: half of the median round trip over `duration`.
///
/// # Errors
/// Returns an error if two threads on `cpu` are not available, if futexes are refused, or if not one batch ended within
/// ten times `duration`.
#[allow(clippy::cast_precision_loss, reason = "microseconds in ns")]
pub fn switch_ns(cpu: u32, duration: Duration) -> Result<f64, LimitError> {
    let bound = 10 * duration;
    let batches_ns =
        run_pair([cpu; 2], bound, &SwitchMeasurement { token: Token::new(), duration })?;
    let batch_ns = median(batches_ns).ok_or(LimitError::TooBusy { after: bound })?;
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
        // The least of several: another program may interrupt half of a measurement.
        let calls_ns = (0..5).map(|_| system_call_ns(duration).unwrap());
        let call_ns = calls_ns.fold(f64::INFINITY, f64::min);
        match switch_ns(cpu, duration) {
            Ok(switch_ns) => assert!(switch_ns > call_ns, "{switch_ns} {call_ns}"),
            Err(reason) => assert!(matches!(reason, LimitError::TooBusy { .. }), "{reason}"),
        }
    }
}
