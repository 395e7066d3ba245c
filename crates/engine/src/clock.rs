//! Two monotonic integer clocks: nanoseconds that all processes share, and the CPU's own ticks.
//!
//! Bandwidth uses elapsed time on `CLOCK_MONOTONIC`, read once at each end. Single round trips are timed with the CPU's
//! time stamp counter, which takes less than half as long to read. Each run calibrates its ticks against
//! `CLOCK_MONOTONIC` over its own duration.
//!
//! References: [clock_gettime(2)](https://man7.org/linux/man-pages/man2/clock_gettime.2.html);
//! Intel SDM volume 3, "Time-Stamp Counter"; Arm ARM, `CNTVCT_EL0`.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Returns the time on `CLOCK_MONOTONIC`, ns. Comparable between processes of one machine.
#[must_use]
pub fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    // The monotonic clock starts near zero at boot, so neither part is negative.
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Reads the CPU's time stamp counter, in ticks of unknown but constant length.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[must_use]
pub fn ticks() -> u64 {
    // SAFETY: RDTSC exists on every x86-64 CPU and accesses no memory. If CR4.TSD forbids it the process gets SIGSEGV;
    // Linux sets that bit only on request (PR_SET_TSC).
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Reads the virtual counter, in ticks of unknown but constant length.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
#[must_use]
pub fn ticks() -> u64 {
    let ticks: u64;
    // SAFETY: CNTVCT_EL0 is readable from user space on Linux, and reading it has no side effect.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

/// Reads `CLOCK_MONOTONIC` on architectures without a known counter: one tick is one nanosecond.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
#[must_use]
pub fn ticks() -> u64 {
    now_ns()
}

/// Reads the time stamp counter after every earlier load has returned its value: after a message has arrived, even if
/// its arrival is noticed by polling memory.
#[inline(always)]
#[must_use]
pub fn ticks_after_loads() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: LFENCE is part of SSE2, which every x86-64 CPU has.
    unsafe {
        core::arch::x86_64::_mm_lfence();
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the barrier has no side effect.
    unsafe {
        core::arch::asm!("isb", options(nostack));
    }
    ticks()
}

/// CPU time of the calling thread, ns. A system call.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The clock starts at zero, so neither part is negative.
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Length of a tick, measured over `duration`, ns. The calling thread sleeps meanwhile.
#[must_use]
pub fn measure_ns_per_tick(duration: Duration) -> f64 {
    let start = Timestamp::now();
    std::thread::sleep(duration);
    start.ns_per_tick(Timestamp::now())
}

/// Simultaneous reading of both clocks.
#[derive(Clone, Copy, Debug)]
pub struct Timestamp {
    /// `CLOCK_MONOTONIC`, ns.
    pub ns: u64,
    /// Time stamp counter, ticks.
    pub ticks: u64,
}

impl Timestamp {
    /// Reads both clocks.
    #[must_use]
    pub fn now() -> Self {
        Self { ns: now_ns(), ticks: ticks() }
    }

    /// Length of a tick between `self` and the later `end`, ns.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a run's duration fits 53 bits by far")]
    pub fn ns_per_tick(self, end: Self) -> f64 {
        let ticks = end.ticks.saturating_sub(self.ticks).max(1);
        end.ns.saturating_sub(self.ns).max(1) as f64 / ticks as f64
    }
}

/// Cost and resolution of `CLOCK_MONOTONIC`, as stored with every result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockFacts {
    /// Smallest step between two different readings, ns.
    pub step_ns: u64,
    /// Cost of one reading, ns: the mean over a thousand.
    pub cost_ns: u64,
}

/// Measures the clock: a thousand readings, about 25 µs.
#[must_use]
pub fn measure() -> ClockFacts {
    const READINGS: u64 = 1_000;
    let start = now_ns();
    let (mut last, mut step_ns) = (start, u64::MAX);
    for _ in 0..READINGS {
        let now = now_ns();
        if now > last {
            step_ns = step_ns.min(now - last);
        }
        last = now;
    }
    ClockFacts { step_ns, cost_ns: (last - start) / READINGS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_advance_together() {
        let start = Timestamp::now();
        std::thread::sleep(Duration::from_millis(2));
        let end = Timestamp::now();
        let ns_per_tick = start.ns_per_tick(end);
        assert!(end.ns - start.ns >= 2_000_000);
        assert!(ns_per_tick > 0.01 && ns_per_tick < 1_000.0, "{ns_per_tick}");
    }

    #[test]
    fn the_clock_steps_by_less_than_a_microsecond() {
        let facts = measure();
        assert!(facts.step_ns >= 1 && facts.step_ns < 1_000, "{facts:?}");
    }
}
