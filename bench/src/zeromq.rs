//! `zeromq`: `zeromq` against a plain program that sends the same messages with libzmq.
//!
//! A pair is one run of each, fresh processes both, on one CPU, with as many messages; who goes first
//! takes turns. What ours yields is the time from just before the first message to just after the last
//! has arrived; the plain program's has the word that it did on top.

use std::process::Command;
use std::time::Duration;

use ipcperf_engine::RunSpec;
use ipcperf_engine::placement::Placement;
use ipcperf_engine::workload::Kind;

use crate::arguments::CapArguments;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::{announce, bytes};
use crate::pinned::on_cpu;
use crate::process::converse_with_group;
use crate::program::{Ipcperf, cpus, spec};
use crate::sampling::{Cap, in_turn, until_decided};
use crate::trouble::Trouble;

/// Our time over that of the plain program.
const BAR: Bar = Bar::Between(0.95, 1.05);
/// What a run is aimed at.
const AIM: Duration = Duration::from_millis(100);
const DEADLINE: Duration = Duration::from_secs(30);
const CASES: [(Kind, u64); 5] = [
    (Kind::RoundTrip, 1),
    (Kind::RoundTrip, 64 << 10),
    (Kind::Stream, 64),
    (Kind::Stream, 4 << 10),
    (Kind::Stream, 64 << 10),
];

/// Measures every case.
pub(crate) fn measure(ipcperf: &Ipcperf, cap: CapArguments) -> Vec<Finding> {
    let answered = CASES.map(|(kind, buffer_bytes)| {
        let question = question(kind, buffer_bytes);
        let finding = match cpus(Placement::Same) {
            Err(why) => question.untestable(why),
            Ok(cpus) => {
                let spec = spec("zeromq", kind, cpus, buffer_bytes);
                question.answer(ratio(ipcperf, spec, cap.into()))
            }
        };
        announce(finding)
    });
    answered.into()
}

fn question(kind: Kind, buffer_bytes: u64) -> Question {
    Question {
        bench: "zeromq",
        case: format!("{} {}", kind.name(), bytes(buffer_bytes)),
        unit: Unit::Ratio,
        bar: BAR,
    }
}

/// The median of our time over that of the plain program.
fn ratio(ipcperf: &Ipcperf, spec: RunSpec, cap: Cap) -> Result<Estimate, Trouble> {
    let spec = ipcperf.sized(spec, AIM)?;
    until_decided(BAR, cap, |number| {
        let ours = || ipcperf.measure(&spec).map(|measurement| measurement.elapsed_ns);
        let (ours_ns, theirs_ns) = in_turn(number, ours, || plain_ns(&spec))?;
        Ok(quotient(ours_ns, theirs_ns))
    })
}

/// How long the plain program takes for what `spec` says, ns.
fn plain_ns(spec: &RunSpec) -> Result<u64, Trouble> {
    let own = std::env::current_exe();
    let own = own.map_err(|error| Trouble::Talk("finding this program".to_owned(), error))?;
    let messages = spec.total_bytes.unwrap_or(spec.buffer_bytes).div_ceil(spec.buffer_bytes);
    let mut command = Command::new(own);
    command.args(["zmq-pair", spec.workload.name()]);
    command.args(["--bytes", &spec.buffer_bytes.to_string()]);
    command.args(["--messages", &messages.to_string()]);
    let cpu = spec.cpus.map_or(0, |[cpu, _]| cpu);
    let said = on_cpu(cpu, || converse_with_group(&mut command, DEADLINE))
        .map_err(|errno| Trouble::System("going to one CPU", errno))??;
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
