//! Run specifications for tests.

use ipcperf_model::RunSpec;

/// A calibrated stream of `mechanism` between two processes on `cpus`, with defaults for the rest.
pub(crate) fn spec(mechanism: &str, cpus: [u32; 2]) -> RunSpec {
    RunSpec { cpus: Some(cpus), ..RunSpec::with_defaults(mechanism, 64) }
}
