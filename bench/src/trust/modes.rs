//! A single mode is reported as one, in single histograms and over repetitions; two modes are reported if they exist.

use ipcperf_engine::find_disturbance;
use ipcperf_model::placement::Placement;
use ipcperf_model::round_trip_histogram::pool;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{Measurement, RunSpec};
use ipcperf_stats::{Mode, modes};

use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::announce;
use crate::program::{Ipcperf, cpus, spec};

/// Number of verdicts on a case with one mode.
const VERDICTS: usize = 100;
/// Repetitions per verdict.
const REPETITIONS: usize = 10;
/// Repetitions of a case that may have two modes.
const MANY: usize = 60;

pub(super) fn measure(ipcperf: &Ipcperf) -> Vec<Finding> {
    [
        finding(
            single_mode_question("stream of 64 KiB through a pipe, 10 repetitions"),
            Placement::Same,
            |cpus| over_repetitions(ipcperf, &spec("pipe", WorkloadKind::Stream, cpus, 64 << 10)),
        ),
        finding(
            single_mode_question("round trips of 64 B through a pipe, one run"),
            Placement::Same,
            |cpus| inside_histograms(ipcperf, &spec("pipe", WorkloadKind::RoundTrip, cpus, 64)),
        ),
        finding(mode_count_question("pipe stream 64 KiB, two CPUs"), Placement::Split, |cpus| {
            mode_count_over_repetitions(
                ipcperf,
                &spec("pipe", WorkloadKind::Stream, cpus, 64 << 10),
            )
        }),
        finding(
            mode_count_question("shm-ring round trips on a futex, two CPUs"),
            Placement::Split,
            |cpus| {
                let mut spec = spec("shm-ring", WorkloadKind::RoundTrip, cpus, 64);
                spec.options.insert("wait".to_owned(), "futex".to_owned());
                mode_count_inside(ipcperf, &spec)
            },
        ),
    ]
    .into_iter()
    .map(announce)
    .collect()
}

fn question(case: String, bar: Bar) -> Question {
    Question { bench: "trust", case, unit: Unit::Ratio, bar }
}

fn single_mode_question(case: &str) -> Question {
    question(format!("share classified as one mode: {case}"), Bar::AtLeast(0.95))
}

fn mode_count_question(case: &str) -> Question {
    question(format!("modes found: {case}"), Bar::None)
}

fn finding(
    question: Question,
    placement: Placement,
    measure: impl FnOnce([u32; 2]) -> Result<(f64, String), BenchError>,
) -> Finding {
    match cpus(placement).map(measure) {
        Err(why) => question.untestable(why),
        Ok(Err(trouble)) => question.failed(&trouble),
        Ok(Ok((value, note))) => question.judge(Estimate::single(value), Some(note)),
    }
}

/// Returns the next undisturbed run; if many in a row are disturbed, the last one.
fn undisturbed(ipcperf: &Ipcperf, spec: &RunSpec) -> Result<Measurement, BenchError> {
    for _ in 0..9 {
        let measured = ipcperf.measure(spec)?;
        if find_disturbance(spec, &measured).is_none() {
            return Ok(measured);
        }
    }
    ipcperf.measure(spec)
}

#[allow(clippy::cast_precision_loss, reason = "a rate, good to 53 bits")]
fn bandwidth(measured: &Measurement) -> f64 {
    measured.arrived_bytes as f64 * 1e9 / measured.elapsed_ns as f64
}

fn bandwidths(ipcperf: &Ipcperf, spec: &RunSpec, n: usize) -> Result<Vec<(f64, u64)>, BenchError> {
    (0..n).map(|_| Ok((bandwidth(&undisturbed(ipcperf, spec)?), 1))).collect()
}

/// Returns the round trips of one run.
#[allow(clippy::cast_precision_loss, reason = "ns of a round trip")]
fn trips(ipcperf: &Ipcperf, spec: &RunSpec) -> Result<Vec<(f64, u64)>, BenchError> {
    let measured = undisturbed(ipcperf, spec)?;
    let histogram = measured.round_trips.map(|trips| trips.latencies.histogram).unwrap_or_default();
    let pooled = pool([histogram.as_str()]).map_err(|said| BenchError::UnexpectedOutput {
        program: "ipcperf worker".to_owned(),
        said,
    })?;
    Ok(pooled.into_iter().map(|(ns, count)| (ns as f64, count)).collect())
}

fn over_repetitions(ipcperf: &Ipcperf, spec: &RunSpec) -> Result<(f64, String), BenchError> {
    verdicts(|| bandwidths(ipcperf, spec, REPETITIONS))
}

fn inside_histograms(ipcperf: &Ipcperf, spec: &RunSpec) -> Result<(f64, String), BenchError> {
    verdicts(|| trips(ipcperf, spec))
}

/// Returns the share of verdicts "one mode", and a description of the others.
#[allow(clippy::cast_precision_loss, reason = "a share of counts")]
fn verdicts(
    mut take: impl FnMut() -> Result<Vec<(f64, u64)>, BenchError>,
) -> Result<(f64, String), BenchError> {
    let mut wrong: Vec<String> = Vec::new();
    for _ in 0..VERDICTS {
        let found = modes(&take()?);
        if found.len() != 1 {
            wrong.push(modes_text(&found));
        }
    }
    let share = 1.0 - wrong.len() as f64 / VERDICTS as f64;
    let first: Vec<String> = wrong.iter().take(3).cloned().collect();
    let note = if first.is_empty() { String::new() } else { format!(": {}", first.join("; ")) };
    Ok((share, format!("{} of {VERDICTS} not{note}", wrong.len())))
}

fn mode_count_over_repetitions(
    ipcperf: &Ipcperf,
    spec: &RunSpec,
) -> Result<(f64, String), BenchError> {
    Ok(mode_count(&bandwidths(ipcperf, spec, MANY)?))
}

fn mode_count_inside(ipcperf: &Ipcperf, spec: &RunSpec) -> Result<(f64, String), BenchError> {
    Ok(mode_count(&trips(ipcperf, spec)?))
}

#[allow(clippy::cast_precision_loss, reason = "a count of modes")]
fn mode_count(weighted: &[(f64, u64)]) -> (f64, String) {
    let found = modes(weighted);
    (found.len() as f64, modes_text(&found))
}

fn modes_text(modes: &[Mode]) -> String {
    let mode = |mode: &Mode| format!("{:.0} % at {:.3e}", 100.0 * mode.share, mode.median);
    modes.iter().map(mode).collect::<Vec<_>>().join(", ")
}
