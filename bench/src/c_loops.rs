//! `c-loops`: pipe and unix-stream compared with plain C loops that do the same.
//!
//! A pair is one run of each, both in fresh processes, on one CPU, with the same total; the order alternates. Both
//! report the time from just before the first byte was sent to just after the last was received, so their ratio is that
//! of bandwidths, or of mean round trips.

use std::time::Duration;

use ipcperf_model::RunSpec;
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::WorkloadKind;

use crate::arguments::LimitArguments;
use crate::c_program::CLoops;
use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::{announce, bytes};
use crate::program::{Ipcperf, cpus, spec};
use crate::sampling::{SamplingLimit, alternate, until_decided};

/// Our time divided by that of the C loop.
const BAR: Bar = Bar::Between(0.97, 1.03);
/// Target duration of a run.
const AIM: Duration = Duration::from_millis(40);
const CASES: [(WorkloadKind, u64); 4] = [
    (WorkloadKind::Stream, 4 << 10),
    (WorkloadKind::Stream, 64 << 10),
    (WorkloadKind::Stream, 1 << 20),
    (WorkloadKind::RoundTrip, 1),
];

/// Measures every case.
pub(crate) fn measure(ipcperf: &Ipcperf, cap: LimitArguments) -> Vec<Finding> {
    let compiled = CLoops::compile();
    let cases = ["pipe", "unix-stream"]
        .into_iter()
        .flat_map(|mechanism| CASES.map(|(kind, bytes)| (mechanism, kind, bytes)));
    cases
        .map(|(mechanism, kind, buffer_bytes)| {
            let question = question(mechanism, kind, buffer_bytes);
            let finding = match (&compiled, cpus(Placement::Same)) {
                (Err(trouble), _) => question.failed(trouble),
                (_, Err(why)) => question.untestable(why),
                (Ok(c), Ok(cpus)) => {
                    let spec = spec(mechanism, kind, cpus, buffer_bytes);
                    question.answer(ratio(ipcperf, c, spec, cap.into()))
                }
            };
            announce(finding)
        })
        .collect()
}

fn question(mechanism: &str, kind: WorkloadKind, buffer_bytes: u64) -> Question {
    Question {
        bench: "c-loops",
        case: format!("{mechanism} {} {}", kind.name(), bytes(buffer_bytes)),
        unit: Unit::Ratio,
        bar: BAR,
    }
}

/// Returns the median of our time divided by that of the C loop.
fn ratio(
    ipcperf: &Ipcperf,
    c: &CLoops,
    spec: RunSpec,
    cap: SamplingLimit,
) -> Result<Estimate, BenchError> {
    let spec = ipcperf.calibrate(spec, AIM)?;
    until_decided(BAR, cap, |number| {
        let ours = || ipcperf.measure(&spec).map(|measurement| measurement.elapsed_ns);
        let (ours_ns, theirs_ns) = alternate(number, ours, || c.elapsed_ns(&spec))?;
        Ok(quotient(ours_ns, theirs_ns))
    })
}

#[allow(clippy::cast_precision_loss, reason = "times of milliseconds in ns")]
fn quotient(ours_ns: u64, theirs_ns: u64) -> f64 {
    ours_ns as f64 / theirs_ns.max(1) as f64
}
