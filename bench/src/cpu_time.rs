//! `cpu-time`: CPU time that the kernel charged to the control group of a worker, compared with what ipcperf reports for the
//! peers of its run.
//!
//! A worker also uses CPU time before and after its run. So each pair is two runs, one with twice the total of the other, and
//! the ratio is that of the two differences, in which the rest cancels out.

mod control_group;
mod kernel_workers;

use std::time::Duration;

use control_group::ControlGroup;
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{Measurement, RunSpec};
use kernel_workers::KernelWorkers;

use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::{announce, bytes};
use crate::program::{Ipcperf, cpus, spec};
use crate::sampling::{SamplingLimit, alternate, until_decided};

/// Durations by which the runs of a pair differ, each with its bar.
const SPANS: [(Duration, &str, Bar); 2] = [
    (Duration::from_secs(1), "1 s", Bar::Between(0.995, 1.005)),
    (Duration::from_millis(50), "50 ms", Bar::Between(0.98, 1.02)),
];
const LIMIT: SamplingLimit = SamplingLimit { values: 100, time: Duration::from_secs(100) };
/// Mechanisms and placements: with and without a peer that spins, and with work in the network stack.
const CASES: [(&str, Placement); 5] = [
    ("pipe", Placement::Same),
    ("unix-stream", Placement::Split),
    ("tcp", Placement::Same),
    ("shm-ring", Placement::Split),
    ("pty", Placement::Same),
];
/// Size of a message, bytes.
const BYTES: u64 = 4096;
/// Number of runs in which the work queues of the kernel are observed.
const WORKER_RUNS: usize = 20;
/// Bar for what ipcperf reports of them. A run of a worker also opens and closes the pseudoterminal.
const WORKER_BAR: Bar = Bar::Between(0.95, 1.05);

/// Measures every case.
pub(crate) fn measure(ipcperf: &Ipcperf) -> Vec<Finding> {
    let group = ControlGroup::create();
    let mut findings = Vec::new();
    for (mechanism, placement) in CASES {
        for (span, shown, bar) in SPANS {
            let case = format!(
                "{mechanism} stream {}, {placement}, {shown}: control group / peers",
                bytes(BYTES)
            );
            let question = Question { bench: "cpu-time", case, unit: Unit::Ratio, bar };
            findings.push(announce(match (&group, &cpus(placement)) {
                (Err(why), _) | (_, Err(why)) => question.untestable(why),
                (Ok(group), Ok(cpus)) => {
                    let spec = spec(mechanism, WorkloadKind::Stream, *cpus, BYTES);
                    question.answer(agreement(ipcperf, group, &spec, (span, bar)))
                }
            }));
        }
    }
    findings.extend(work_queues(ipcperf).map(announce));
    findings
}

/// Returns the CPU time of the group divided by that of the peers, for runs of `spec` that differ by a span.
fn agreement(
    ipcperf: &Ipcperf,
    group: &ControlGroup,
    spec: &RunSpec,
    (span, bar): (Duration, Bar),
) -> Result<Estimate, BenchError> {
    until_decided(bar, LIMIT, |number| {
        // Two virtual CPUs may be at another distance by now, at which messages take twenty times as long.
        let short = ipcperf.calibrate(spec.clone(), span)?;
        let long_bytes = short.total_bytes.map(|total| 2 * total);
        let long = RunSpec { total_bytes: long_bytes, ..short.clone() };
        let (long, short) = alternate(
            number,
            || charged_and_reported(ipcperf, group, &long),
            || charged_and_reported(ipcperf, group, &short),
        )?;
        Ok((long[0] - short[0]) / (long[1] - short[1]))
    })
}

/// Returns the CPU time of one run as its group has it, and as ipcperf reports it, ns.
fn charged_and_reported(
    ipcperf: &Ipcperf,
    group: &ControlGroup,
    spec: &RunSpec,
) -> Result<[f64; 2], BenchError> {
    let before_ns = group.cpu_ns()?;
    let measured = ipcperf.measure_by(group.command(&ipcperf.worker()), spec)?;
    Ok([group.cpu_ns()? - before_ns, peers_ns(&measured)?])
}

/// Returns the CPU time of the peers, ns.
#[allow(clippy::cast_precision_loss, reason = "seconds in ns, good to 53 bits")]
fn peers_ns(measured: &Measurement) -> Result<f64, BenchError> {
    let all: Option<u64> = measured.roles.iter().map(|role| role.cpu_ns).sum();
    all.filter(|&ns| ns > 0).map(|ns| ns as f64).ok_or(BenchError::NoValues)
}

/// Compares what work queues of the kernel do for a pseudoterminal, which no process is charged for, with what ipcperf reports
/// of it and with the CPU time of the peers.
fn work_queues(ipcperf: &Ipcperf) -> [Finding; 2] {
    let question = |what: &str, bar| Question {
        bench: "cpu-time",
        case: format!("pty stream {}, same: work queues of the kernel / {what}", bytes(BYTES)),
        unit: Unit::Ratio,
        bar,
    };
    let questions = [question("as reported", WORKER_BAR), question("peers", Bar::None)];
    let cpus = match cpus(Placement::Same) {
        Ok(_) if KernelWorkers::read().is_empty() => {
            Err("the threads of the kernel are not visible".to_owned())
        }
        found => found,
    };
    match cpus.map(|cpus| work_queue_ratios(ipcperf, cpus)) {
        Err(why) => questions.map(|question| question.untestable(&why)),
        Ok(Err(error)) => questions.map(|question| question.failed(&error)),
        Ok(Ok([reported, peers])) => {
            let [of_reported, of_peers] = questions;
            [of_reported.answer(Ok(reported)), of_peers.answer(Ok(peers))]
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "seconds in ns, good to 53 bits")]
fn work_queue_ratios(ipcperf: &Ipcperf, cpus: [u32; 2]) -> Result<[Estimate; 2], BenchError> {
    let spec = ipcperf.calibrate(spec("pty", WorkloadKind::Stream, cpus, BYTES), SPANS[0].0)?;
    let (mut of_reported, mut of_peers) = (Vec::new(), Vec::new());
    for _ in 0..WORKER_RUNS {
        let idle = KernelWorkers::read();
        std::thread::sleep(SPANS[0].0);
        let before = KernelWorkers::read();
        let measured = ipcperf.measure(&spec)?;
        let busy_ns = KernelWorkers::read().since(&before) - before.since(&idle);
        let reported_ns = measured.kernel_thread_ns.filter(|&ns| ns > 0);
        of_reported.push(busy_ns / reported_ns.ok_or(BenchError::NoValues)? as f64);
        of_peers.push(busy_ns / peers_ns(&measured)?);
    }
    let estimate = |values: &[f64]| Estimate::from_values(values).ok_or(BenchError::NoValues);
    Ok([estimate(&of_reported)?, estimate(&of_peers)?])
}
