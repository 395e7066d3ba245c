//! CPU time, and the kernel's estimate of how much of it was spent in the kernel.
//!
//! The CPU clock of a thread and its `schedstat` are exact. The split into user and system time is not: at each timer
//! tick the kernel samples in which of the two it interrupted the thread, and scales the exact sum by the samples since
//! the thread started (`cputime_adjust`). A run of 16 ms has four ticks at 250 Hz.

use std::collections::BTreeSet;
use std::path::Path;

use ipcperf_model::UserSystemSplit;

use crate::placement::read_list;

/// Returns how the kernel splits the CPU time of a run on `cpus`, of which there are none if the scheduler chose them.
#[must_use]
pub fn user_system_split(cpus: &[u32]) -> UserSystemSplit {
    let isolated = read_list(Path::new("/sys/devices/system/cpu/nohz_full"));
    split_on(&isolated.unwrap_or_default(), cpus)
}

fn split_on(isolated: &BTreeSet<u32>, cpus: &[u32]) -> UserSystemSplit {
    if !cpus.is_empty() && cpus.iter().all(|cpu| isolated.contains(cpu)) {
        UserSystemSplit::Measured
    } else {
        UserSystemSplit::Sampled
    }
}

/// User and system time, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) user_ns: u64,
    pub(super) system_ns: u64,
}

impl Times {
    /// Time used from `self` to `end`.
    pub(super) fn until(self, end: Self) -> Self {
        Self {
            user_ns: end.user_ns.saturating_sub(self.user_ns),
            system_ns: end.system_ns.saturating_sub(self.system_ns),
        }
    }

    /// Splits `cpu_ns` in the proportion that the kernel sampled from `self` to `end`. If it sampled nothing in
    /// between, uses the proportion of all samples before `end`. Without any sample all time is user time, as in the
    /// kernel.
    pub(super) fn scaled(self, end: Self, cpu_ns: u64) -> Self {
        let between = self.until(end);
        let sampled = if between == Self::default() { end } else { between };
        let all_ns = u128::from(sampled.user_ns) + u128::from(sampled.system_ns);
        let system_ns = u128::from(cpu_ns) * u128::from(sampled.system_ns) / all_ns.max(1);
        // Cannot fail: the result is a share of `cpu_ns`.
        let system_ns = u64::try_from(system_ns).unwrap_or(cpu_ns);
        Self { user_ns: cpu_ns - system_ns, system_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(user_ns: u64, system_ns: u64) -> Times {
        Times { user_ns, system_ns }
    }

    #[test]
    fn the_sum_is_the_clocks_and_the_split_the_kernels() {
        let scaled = times(100, 100).scaled(times(110, 130), 4_001);
        assert_eq!(scaled, times(1_001, 3_000));
        let nothing_between = times(10, 30).scaled(times(10, 30), 400);
        assert_eq!(nothing_between, times(100, 300));
        assert_eq!(times(0, 0).scaled(times(0, 0), 7), times(7, 0));
        let most = times(0, 0).scaled(times(0, u64::MAX), u64::MAX);
        assert_eq!(most, times(0, u64::MAX));
    }

    #[test]
    fn only_isolated_cpus_measure() {
        let isolated = BTreeSet::from([2, 3]);
        let on = |cpus| split_on(&isolated, cpus);
        assert_eq!(on(&[2, 3][..]), UserSystemSplit::Measured);
        assert_eq!(on(&[1, 2]), UserSystemSplit::Sampled);
        assert_eq!(on(&[]), UserSystemSplit::Sampled);
    }
}
