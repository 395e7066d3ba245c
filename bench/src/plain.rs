//! Cost of a library through ipcperf, relative to a plain program that does the same with it.
//!
//! The plain program is this executable with another subcommand; it prints its total duration in ns. A pair is one run
//! of each, both in fresh processes, with the same number of messages; the order alternates.

use std::process::Command;
use std::time::Duration;

use ipcperf_model::RunSpec;

use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::Bar;
use crate::pinned::on_cpu;
use crate::process::run_in_group;
use crate::program::Ipcperf;
use crate::sampling::{SamplingLimit, alternate, until_decided};

/// Our time divided by that of the plain program.
pub(crate) const BAR: Bar = Bar::Between(0.95, 1.05);
/// Target duration of a run.
const AIM: Duration = Duration::from_millis(100);
const TIMEOUT: Duration = Duration::from_secs(30);

/// Returns the median of our time divided by that of the plain program, whose `arguments` are made from the run and its
/// number of messages.
pub(crate) fn ratio(
    ipcperf: &Ipcperf,
    spec: RunSpec,
    cap: SamplingLimit,
    arguments: impl Fn(&RunSpec, u64) -> Vec<String>,
) -> Result<Estimate, BenchError> {
    let spec = ipcperf.calibrate(spec, AIM)?;
    let messages = spec.total_bytes.unwrap_or(spec.buffer_bytes).div_ceil(spec.buffer_bytes);
    let plain_arguments = arguments(&spec, messages);
    until_decided(BAR, cap, |number| {
        let ours = || ipcperf.measure(&spec).map(|measurement| measurement.elapsed_ns);
        let (ours_ns, theirs_ns) = alternate(number, ours, || elapsed_ns(&spec, &plain_arguments))?;
        Ok(quotient(ours_ns, theirs_ns))
    })
}

/// Returns the duration of the plain program. If both peers share a CPU, it is started there; otherwise it pins itself
/// to the CPUs in its arguments.
fn elapsed_ns(spec: &RunSpec, arguments: &[String]) -> Result<u64, BenchError> {
    let own = std::env::current_exe();
    let own = own.map_err(|error| {
        BenchError::Io("finding the executable of this program".to_owned(), error)
    })?;
    let mut command = Command::new(own);
    command.args(arguments);
    let said = match spec.cpus {
        Some([cpu, other]) if cpu == other => {
            on_cpu(cpu, || run_in_group(&mut command, TIMEOUT))
                .map_err(|errno| BenchError::System("pinning to one CPU", errno))?
        }
        _ => run_in_group(&mut command, TIMEOUT),
    }?;
    let said = String::from_utf8_lossy(&said);
    said.trim().parse().map_err(|_| BenchError::UnexpectedOutput {
        program: "the minimal program".to_owned(),
        said: said.trim().to_owned(),
    })
}

#[allow(clippy::cast_precision_loss, reason = "times of milliseconds in ns")]
fn quotient(ours_ns: u64, theirs_ns: u64) -> f64 {
    ours_ns as f64 / theirs_ns.max(1) as f64
}
