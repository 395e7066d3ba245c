//! Measures all limits of a machine in turn.

use std::time::Duration;

use ipcperf_model::hardware_limits::{CachelineLimit, CopyLimit, HardwareLimits, PairKind};
use ipcperf_model::placement::Placement;

use super::error::LimitError;
use super::{Effort, cacheline, copy, switch, system_call, threads, wake};
use crate::placement::{PlacementError, Topology};

/// Measures this machine on the CPUs of `topology`, with hot copies of each of `copy_sizes` (bytes).
///
/// Never fails: a limit that is refused, short of memory or disturbed too much is missing, with its reason. On a quiet
/// machine it takes the time that `effort` says, and on a busy one at most some ten times that. The calling thread's
/// affinity is unchanged. No thread, process or mapping remains, except for thread stacks that the C library may cache.
#[must_use]
pub fn measure(topology: &Topology, copy_sizes: &[usize], effort: Effort) -> HardwareLimits {
    let durations = Durations::from_effort(effort);
    let mut measuring = Measurer { topology, durations, missing: Vec::new() };
    let limits = HardwareLimits {
        copy: measuring.copies(copy_sizes),
        copy_cold_bytes_per_s: measuring.copy_cold(),
        system_call_ns: measuring.system_call(),
        switch_ns: measuring.switch(),
        futex_wake_ns: measuring.futex_wake(),
        cacheline: measuring.cachelines(),
        missing: Vec::new(),
    };
    HardwareLimits { missing: measuring.missing, ..limits }
}

/// Measuring time of each figure.
struct Durations {
    copy: Duration,
    /// Number of cold passes; `None` if mapping 512 MiB would take too long.
    cold_passes: Option<usize>,
    system_call: Duration,
    switch: Duration,
    futex_wake: Duration,
    cacheline: Duration,
}

impl Durations {
    const fn from_effort(effort: Effort) -> Self {
        match effort {
            Effort::Brief => Self {
                copy: Duration::from_millis(5),
                cold_passes: None,
                system_call: Duration::from_millis(5),
                switch: Duration::from_millis(10),
                futex_wake: Duration::from_millis(20),
                cacheline: Duration::from_millis(5),
            },
            Effort::Thorough => Self {
                copy: Duration::from_millis(60),
                cold_passes: Some(4),
                system_call: Duration::from_millis(100),
                switch: Duration::from_millis(250),
                futex_wake: Duration::from_millis(400),
                cacheline: Duration::from_millis(100),
            },
        }
    }
}

/// State of a measurement.
struct Measurer<'a> {
    topology: &'a Topology,
    durations: Durations,
    missing: Vec<String>,
}

impl Measurer<'_> {
    fn copies(&mut self, sizes: &[usize]) -> Vec<CopyLimit> {
        let duration = self.durations.copy;
        let mut copy = |&bytes: &usize| {
            let rate = self.run_pinned(&format!("copy of {bytes} bytes"), || {
                copy::checked_hot_bytes_per_s(bytes, duration)
            });
            CopyLimit { bytes: bytes as u64, hot_bytes_per_s: rate.map(round_to_u64) }
        };
        sizes.iter().map(&mut copy).collect()
    }

    fn copy_cold(&mut self) -> Option<u64> {
        let passes = self.durations.cold_passes.ok_or(LimitError::TooLong);
        self.run_pinned("copy_cold_bytes_per_s", || copy::cold_bytes_per_s(passes?))
            .map(round_to_u64)
    }

    fn system_call(&mut self) -> Option<f64> {
        let duration = self.durations.system_call;
        self.run_pinned("system_call_ns", || system_call::system_call_ns(duration))
    }

    fn switch(&mut self) -> Option<f64> {
        let duration = self.durations.switch;
        let figure = resolve_pair(self.topology, Placement::Same)
            .and_then(|cpus| switch::switch_ns(cpus[0], duration));
        self.or_missing("switch_ns", figure)
    }

    fn futex_wake(&mut self) -> Option<f64> {
        let duration = self.durations.futex_wake;
        let figure = resolve_pair(self.topology, Placement::Split)
            .and_then(|cpus| wake::futex_wake_ns(cpus, duration));
        self.or_missing("futex_wake_ns", figure)
    }

    /// Measures each kind of pair that exists; reports a missing limit only if no pair of CPUs exists. Two kinds with
    /// the same CPUs share one measurement.
    fn cachelines(&mut self) -> Vec<CachelineLimit> {
        let mut limits: Vec<CachelineLimit> = Vec::new();
        for kind in PairKind::ALL {
            let cpus = match resolve_pair(self.topology, kind.placement()) {
                Ok(cpus) => cpus,
                Err(none) => {
                    let reason = (kind == PairKind::Split).then(|| format!("cacheline: {none}"));
                    self.missing.extend(reason);
                    continue;
                }
            };
            let known = limits.iter().find(|limit| limit.cpus == cpus);
            let known_ns = known.map(|limit| limit.round_trip_ns);
            let round_trip_ns = known_ns.unwrap_or_else(|| self.cacheline(cpus));
            limits.push(CachelineLimit { kind, cpus, round_trip_ns });
        }
        limits
    }

    fn cacheline(&mut self, cpus: [u32; 2]) -> Option<f64> {
        let figure = cacheline::round_trip_between_ns(cpus, self.durations.cacheline);
        self.or_missing(&format!("cacheline {}:{}", cpus[0], cpus[1]), figure)
    }

    /// Runs `work` on a new thread on the first CPU, and returns its figure.
    fn run_pinned(
        &mut self,
        name: &str,
        work: impl FnOnce() -> Result<f64, LimitError> + Send,
    ) -> Option<f64> {
        let figure = resolve_pair(self.topology, Placement::Same)
            .and_then(|cpus| threads::run_pinned(cpus[0], work));
        self.or_missing(name, figure)
    }

    /// Returns the figure, or records the reason why it is missing.
    fn or_missing(&mut self, name: &str, figure: Result<f64, LimitError>) -> Option<f64> {
        figure.map_err(|reason| self.missing.push(format!("{name}: {reason}"))).ok()
    }
}

/// Resolves a placement that names CPUs.
fn resolve_pair(topology: &Topology, placement: Placement) -> Result<[u32; 2], LimitError> {
    let needs = "CPUs of its own";
    let none = || PlacementError::NoSuchPair { placement, needs, allowed: topology.allowed() };
    Ok(topology.resolve(placement)?.ok_or_else(none)?)
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive rate far below 2^63"
)]
fn round_to_u64(rate: f64) -> u64 {
    rate.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing() -> Measurer<'static> {
        static NONE: Topology = Topology { cpus: Vec::new() };
        Measurer {
            topology: &NONE,
            durations: Durations::from_effort(Effort::Brief),
            missing: Vec::new(),
        }
    }

    #[test]
    fn without_cpus_every_figure_is_missing_for_a_reason() {
        let mut measuring = nothing();
        assert_eq!(measuring.copies(&[64]), [CopyLimit { bytes: 64, hot_bytes_per_s: None }]);
        assert_eq!(measuring.copy_cold(), None);
        assert_eq!(measuring.system_call(), None);
        assert_eq!(measuring.switch(), None);
        assert_eq!(measuring.futex_wake(), None);
        assert_eq!(measuring.cachelines(), []);
        let names = measuring.missing.iter().filter_map(|why| why.split(": ").next());
        let figures = "copy of 64 bytes,copy_cold_bytes_per_s,system_call_ns,switch_ns,\
            futex_wake_ns,cacheline";
        assert_eq!(names.collect::<Vec<_>>().join(","), figures);
    }

    #[test]
    fn a_size_that_no_memory_holds_is_missing_and_the_others_are_not() {
        let topology = Topology::read().unwrap();
        let mut measuring = Measurer { topology: &topology, ..nothing() };
        let copies = measuring.copies(&[4096, usize::MAX / 4, 64]);
        assert_eq!(
            copies.iter().map(|one| one.hot_bytes_per_s.is_some()).collect::<Vec<_>>(),
            [true, false, true]
        );
        assert_eq!(measuring.missing.len(), 1, "{:?}", measuring.missing);
    }
}
