//! `programs`: two separately executed programs that meet by name (2exec), compared with two processes that inherit the open
//! mechanism (2proc).
//!
//! A quad is two runs of each, in the order A B B A or B A A B, all in fresh processes, with the same total.

use std::time::Duration;

use ipcperf_model::placement::Placement;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{Mode, RunSpec};

use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::{announce, bytes};
use crate::program::{Ipcperf, cpus, spec};
use crate::sampling::quads;

/// Time of separate programs divided by that of forked processes, on one CPU.
const BAR: Bar = Bar::Between(0.97, 1.03);
/// Target duration of a run.
const AIM: Duration = Duration::from_millis(40);
/// Mechanisms whose peers can meet by name.
const MECHANISMS: [&str; 4] = ["unix-stream-named", "tcp", "fifo", "shm-ring"];
/// Placements, each with its bar.
const PLACEMENTS: [(Placement, Bar); 2] = [(Placement::Same, BAR), (Placement::Split, Bar::None)];
/// Number of quads of each case.
const QUADS: usize = 100;
/// Size of a message, bytes.
const BYTES: u64 = 64;

/// Measures every case.
pub(crate) fn measure(ipcperf: &Ipcperf) -> Vec<Finding> {
    let placed = |mechanism| PLACEMENTS.map(|(placement, bar)| (mechanism, placement, bar));
    let measured = MECHANISMS.into_iter().flat_map(placed).map(|(mechanism, placement, bar)| {
        let size = bytes(BYTES);
        let question = Question {
            bench: "programs",
            case: format!("{mechanism} round trip {size}, {placement}, 2exec / 2proc"),
            unit: Unit::Ratio,
            bar,
        };
        let finding = match cpus(placement) {
            Err(why) => question.untestable(why),
            Ok(cpus) => {
                let forked = spec(mechanism, WorkloadKind::RoundTrip, cpus, BYTES);
                question.answer(ratio(ipcperf, forked))
            }
        };
        announce(finding)
    });
    measured.collect()
}

/// Returns the time of `forked` in separate programs divided by its own.
fn ratio(ipcperf: &Ipcperf, forked: RunSpec) -> Result<Estimate, BenchError> {
    let forked = ipcperf.calibrate(forked, AIM)?;
    let separate = RunSpec { mode: Mode::TwoPrograms, ..forked.clone() };
    let elapsed_ns = |spec: &RunSpec| ipcperf.measure(spec).map(|measured| measured.elapsed_ns);
    quads(QUADS, || elapsed_ns(&separate), || elapsed_ns(&forked))
}
