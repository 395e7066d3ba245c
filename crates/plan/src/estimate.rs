//! Rough estimate of how long a run takes.

use std::time::Duration;

use ipcperf_engine::channel::{PeerPlacement, peer_placement};
use ipcperf_engine::worker::run_stretch;
use ipcperf_model::{Gate, RunSpec};

/// Time of a run besides its sample: starting processes, calibration.
const OVERHEAD: Duration = Duration::from_millis(8);
/// Time of the two cache-line probes around a run on two CPUs.
const PROBES: Duration = Duration::from_millis(10);
/// Duration of a calibrated sample.
const SAMPLE: Duration = Duration::from_millis(22);
/// Time to start and stop the instruments of a run.
const INSTRUMENT_START: Duration = Duration::from_millis(100);
/// Assumed rate at which bytes are transferred, or touched for the first time: 1 GB/s.
const ASSUMED_BYTES_PER_NS: u64 = 1;
/// Minimum number of messages of a run without a total: one measures the rate, the other is the sample.
const MIN_MESSAGES: u64 = 2;
/// Number of buffers that are touched before the first message: one of each peer.
const BUFFERS: u64 = 2;

/// Returns a rough estimate of the duration of a run with `spec`.
pub(super) fn estimate_run(spec: &RunSpec) -> Duration {
    let message = spec.largest_bytes();
    let paced = spec.pacing.map(|pacing| Duration::from_nanos(pacing.duration_ns()));
    let total = spec.total_bytes;
    let calibrated = SAMPLE.saturating_mul(u32::try_from(run_stretch(spec)).unwrap_or(u32::MAX));
    let connections = spec.connections() as u64;
    let sample = paced.unwrap_or_else(|| {
        let least = time_of(message.saturating_mul(MIN_MESSAGES));
        total.map_or(calibrated.max(least), |total| time_of(total.saturating_mul(connections)))
    });
    let probes = match peer_placement(spec) {
        PeerPlacement::SeparateCpus => PROBES,
        PeerPlacement::OneCpu | PeerPlacement::Unpinned => Duration::ZERO,
    };
    let start = match spec.gate {
        Gate::Closed => INSTRUMENT_START,
        Gate::Open => Duration::ZERO,
    };
    let touch = time_of(message.saturating_mul(BUFFERS));
    OVERHEAD.saturating_add(touch).saturating_add(probes + start).saturating_add(sample)
}

/// Returns the assumed time to move `bytes`.
const fn time_of(bytes: u64) -> Duration {
    Duration::from_nanos(bytes / ASSUMED_BYTES_PER_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipe() -> RunSpec {
        RunSpec { cpus: Some([0, 0]), ..RunSpec::with_defaults("pipe", 64) }
    }

    #[test]
    fn large_messages_take_longer() {
        let run = |bytes| estimate_run(&RunSpec { buffer_bytes: bytes, ..pipe() });
        assert!(run(64) < Duration::from_millis(60), "{:?}", run(64));
        assert!(run(1 << 30) > 4 * time_of(1 << 30), "{:?}", run(1 << 30));
        assert!(run(u64::MAX) > run(1 << 40));
    }

    #[test]
    fn a_given_total_is_moved_once() {
        let moved =
            |total| estimate_run(&RunSpec { total_bytes: Some(total), ..pipe() }).as_nanos();
        assert_eq!(moved(3_000_000_000) - moved(1_000_000_000), 2_000_000_000);
    }
}
