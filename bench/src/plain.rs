//! Cost of a library through ipcperf, relative to a plain program that does the same with it.
//!
//! The plain program is this executable with another subcommand; it prints its total duration in ns. A pair is one run
//! of each, both in fresh processes, with the same number of messages; the order alternates.

use std::process::Command;
use std::time::Duration;

use ipcperf_model::RunSpec;

use crate::estimate::Estimate;
use crate::finding::Bar;
use crate::pinned::on_cpu;
use crate::process::converse_with_group;
use crate::program::Ipcperf;
use crate::sampling::{Cap, in_turn, until_decided};
use crate::trouble::Trouble;

/// Our time divided by that of the plain program.
pub(crate) const BAR: Bar = Bar::Between(0.95, 1.05);
/// Target duration of a run.
const AIM: Duration = Duration::from_millis(100);
const DEADLINE: Duration = Duration::from_secs(30);

/// Returns the median of our time divided by that of the plain program, whose `arguments` are made from the run and its
/// number of messages.
pub(crate) fn ratio(
    ipcperf: &Ipcperf,
    spec: RunSpec,
    cap: Cap,
    arguments: impl Fn(&RunSpec, u64) -> Vec<String>,
) -> Result<Estimate, Trouble> {
    let spec = ipcperf.sized(spec, AIM)?;
    let messages = spec.total_bytes.unwrap_or(spec.buffer_bytes).div_ceil(spec.buffer_bytes);
    let told = arguments(&spec, messages);
    until_decided(BAR, cap, |number| {
        let ours = || ipcperf.measure(&spec).map(|measurement| measurement.elapsed_ns);
        let (ours_ns, theirs_ns) = in_turn(number, ours, || elapsed_ns(&spec, &told))?;
        Ok(quotient(ours_ns, theirs_ns))
    })
}

/// Returns the duration of the plain program. If both peers share a CPU, it is started there; otherwise it pins itself
/// to the CPUs in its arguments.
fn elapsed_ns(spec: &RunSpec, told: &[String]) -> Result<u64, Trouble> {
    let own = std::env::current_exe();
    let own = own.map_err(|error| Trouble::Talk("finding this program".to_owned(), error))?;
    let mut command = Command::new(own);
    command.args(told);
    let said = match spec.cpus {
        Some([cpu, other]) if cpu == other => {
            on_cpu(cpu, || converse_with_group(&mut command, DEADLINE))
                .map_err(|errno| Trouble::System("going to one CPU", errno))?
        }
        _ => converse_with_group(&mut command, DEADLINE),
    }?;
    let said = String::from_utf8_lossy(&said);
    said.trim().parse().map_err(|_| Trouble::Nonsense {
        program: "the plain program".to_owned(),
        said: said.trim().to_owned(),
    })
}

#[allow(clippy::cast_precision_loss, reason = "times of milliseconds in ns")]
fn quotient(ours_ns: u64, theirs_ns: u64) -> f64 {
    ours_ns as f64 / theirs_ns.max(1) as f64
}
