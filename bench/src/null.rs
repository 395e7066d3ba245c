//! `null`: cost of the harness per message, in every mode and placement.
//!
//! A run that other programs disturbed is retried and counted in the note.

use std::time::Duration;

use ipcperf_engine::find_disturbance;
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{Mode, RunSpec};

use crate::error::BenchError;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::announce;
use crate::program::{Ipcperf, cpus, spec};
use crate::sampling::{SamplingLimit, until_decided};

/// Cost of a message, ns.
const BAR: Bar = Bar::AtMost(2.0);
const CAP: SamplingLimit = SamplingLimit { values: 100, time: Duration::from_secs(20) };
/// Maximum number of retries for a disturbed run.
const MAX_RETRIES: usize = 5;
/// Size of a message, which is not moved.
const BUFFER_BYTES: u64 = 64;

/// Measures every mode and placement.
pub(crate) fn measure(ipcperf: &Ipcperf) -> Vec<Finding> {
    let places = [Placement::Same, Placement::Split];
    let cells = Mode::INHERITED.into_iter().flat_map(|mode| places.map(|place| (mode, place)));
    cells.map(|(mode, placement)| announce(measure_cell(ipcperf, mode, placement))).collect()
}

fn measure_cell(ipcperf: &Ipcperf, mode: Mode, placement: Placement) -> Finding {
    let question = Question {
        bench: "null",
        case: format!("stream {} {placement}", mode.name()),
        unit: Unit::Ns,
        bar: BAR,
    };
    match cpus(placement) {
        Err(why) => question.untestable(why),
        Ok([sender, receiver]) if mode == Mode::OneThread && sender != receiver => {
            question.untestable("one thread cannot be on two CPUs")
        }
        Ok(cpus) => {
            let spec = RunSpec { mode, ..spec("null", WorkloadKind::Stream, cpus, BUFFER_BYTES) };
            cell_of(question, ipcperf, &spec)
        }
    }
}

fn cell_of(question: Question, ipcperf: &Ipcperf, spec: &RunSpec) -> Finding {
    let mut repeated = 0;
    let estimate = until_decided(BAR, CAP, |_| message_ns(ipcperf, spec, &mut repeated));
    let note = (repeated > 0).then(|| format!("disturbed runs retried: {repeated}"));
    match estimate {
        Ok(estimate) => question.judge(estimate, note),
        Err(trouble) => question.failed(&trouble),
    }
}

/// Returns the mean cost of a message in one run. If all attempts are disturbed, the last one is used.
#[allow(clippy::cast_precision_loss, reason = "a mean, good to 53 bits")]
fn message_ns(ipcperf: &Ipcperf, spec: &RunSpec, repeated: &mut usize) -> Result<f64, BenchError> {
    let mut measured = ipcperf.measure(spec)?;
    for _ in 0..MAX_RETRIES {
        if find_disturbance(spec, &measured).is_none() {
            break;
        }
        *repeated += 1;
        measured = ipcperf.measure(spec)?;
    }
    Ok(measured.elapsed_ns as f64 / measured.messages.max(1) as f64)
}
