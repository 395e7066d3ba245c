//! `paced`: whether senders keep their schedules, and whether a planted stall is measured as it was.

mod pacer;
mod stall;

use ipcperf_model::pacing::{Arrivals, Pacer, Pacing};
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{Measurement, PacedMeasurement, RunSpec};

use crate::error::BenchError;
use crate::finding::Finding;
use crate::program::{Ipcperf, spec};

/// Size of the messages, bytes.
const MESSAGE_BYTES: u64 = 64;

/// Measures senders without and with a planted stall.
pub(crate) fn measure(ipcperf: &Ipcperf) -> Vec<Finding> {
    [pacer::measure(ipcperf), stall::measure(ipcperf)].concat()
}

/// Returns a paced run of `mechanism` on `cpus`: `messages` at `rate_per_s`. Each `seed` makes another schedule.
fn paced_spec(
    mechanism: &str,
    cpus: [u32; 2],
    (rate_per_s, messages): (u64, u64),
    seed: u64,
) -> RunSpec {
    let (arrivals, pacer) = (Arrivals::Even, Pacer::Spin);
    let pacing = Pacing { rate_per_s, arrivals, pacer, messages, seed };
    RunSpec { pacing: Some(pacing), ..spec(mechanism, WorkloadKind::Paced, cpus, MESSAGE_BYTES) }
}

fn paced_part(measured: Measurement) -> Result<PacedMeasurement, BenchError> {
    measured.paced.ok_or(BenchError::NoValues)
}
