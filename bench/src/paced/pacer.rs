//! How exactly messages are sent, and whether the scheduled rate is achieved.

use ipcperf_model::PacedMeasurement;
use ipcperf_model::placement::Placement;

use super::{paced_part, paced_spec};
use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::announce;
use crate::program::{Ipcperf, cpus};

/// 99.9th percentile of the delay of messages that were on time, ns.
const ERROR_BAR: Bar = Bar::AtMost(500.0);
/// Share of the messages of `null` that were not on time. The 95th percentile of all delays is then below the time that
/// makes a gap, 1 µs.
const LATE_BAR: Bar = Bar::AtMost(0.05);
/// Rates, and the number of messages of a run: a p99.9 needs 10,000 messages that are on time.
const RATES: [(u64, u64); 4] =
    [(1_000, 12_000), (10_000, 12_000), (50_000, 50_000), (200_000, 200_000)];
/// Runs for each rate: the fewest that have a 95 % interval of the median, because one at the lowest rate takes 12 s.
const PACER_RUNS: u64 = 6;
/// Number of runs whose rate is checked, and how many of them must be right.
const RATE_RUNS: u64 = 20;
const MIN_RIGHT: f64 = 19.0;
/// Maximum relative difference of the achieved rate from the drawn one.
const RATE_TOLERANCE: f64 = 0.001;
/// Mechanisms with a rate of at most half of what they carry on any machine.
const CARRIED: [(&str, u64); 3] = [("pipe", 20_000), ("tcp", 20_000), ("shm-ring", 200_000)];

pub(super) fn measure(ipcperf: &Ipcperf) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (rate, messages) in RATES {
        let error = |paced: &PacedMeasurement| paced.pacer.on_time.p999_ns.map(ns);
        findings.push(pacer_finding(
            ipcperf,
            ("null", rate, messages),
            "p99.9 of the error",
            error,
        ));
        if rate > RATES[0].0 {
            let what = "p99.9 of the error";
            findings.push(pacer_finding(ipcperf, ("pipe", rate, messages), what, error));
            let late = |paced: &PacedMeasurement| Some(late_share(paced));
            findings.push(pacer_finding(ipcperf, ("null", rate, messages), LATE, late));
        }
    }
    findings.extend(CARRIED.map(|(mechanism, rate)| achieved(ipcperf, mechanism, rate)));
    findings
}

/// Description of the share of messages that are late.
const LATE: &str = "share not on time";

#[allow(clippy::cast_precision_loss, reason = "a time, good to 53 bits")]
fn ns(value: u64) -> f64 {
    value as f64
}

#[allow(clippy::cast_precision_loss, reason = "a share of counts")]
fn late_share(paced: &PacedMeasurement) -> f64 {
    let late = paced.pacer.in_gap.messages + paced.pacer.behind.messages;
    late as f64 / paced.pacer.sent_messages.max(1) as f64
}

fn pacer_finding(
    ipcperf: &Ipcperf,
    (mechanism, rate, messages): (&str, u64, u64),
    what: &str,
    figure: impl Fn(&PacedMeasurement) -> Option<f64>,
) -> Finding {
    let (unit, bar) = if what == LATE { (Unit::Ratio, LATE_BAR) } else { (Unit::Ns, ERROR_BAR) };
    let case = format!("{mechanism} at {rate}/s split: {what}");
    let question = Question { bench: "paced", case, unit, bar };
    announce(match cpus(Placement::Split) {
        Err(why) => question.untestable(why),
        Ok(cpus) => {
            let run = |seed| {
                let spec = paced_spec(mechanism, cpus, (rate, messages), seed);
                figure(&paced_part(ipcperf.measure(&spec)?)?).ok_or(BenchError::NoValues)
            };
            let values: Result<Vec<f64>, BenchError> = (0..PACER_RUNS).map(run).collect();
            let estimate =
                values.and_then(|all| Estimate::from_values(&all).ok_or(BenchError::NoValues));
            question.answer(estimate)
        }
    })
}

/// Counts the runs that achieve their drawn rate.
fn achieved(ipcperf: &Ipcperf, mechanism: &str, rate: u64) -> Finding {
    let case =
        format!("{mechanism} at {rate}/s split: runs that achieve the drawn rate, of {RATE_RUNS}");
    let bar = Bar::AtLeast(MIN_RIGHT);
    let question = Question { bench: "paced", case, unit: Unit::Runs, bar };
    announce(match cpus(Placement::Split) {
        Err(why) => question.untestable(why),
        Ok(cpus) => question.answer(count_right(ipcperf, (mechanism, rate), cpus)),
    })
}

fn count_right(
    ipcperf: &Ipcperf,
    (mechanism, rate): (&str, u64),
    cpus: [u32; 2],
) -> Result<Estimate, BenchError> {
    let mut right = 0_u32;
    for seed in 0..RATE_RUNS {
        let spec = paced_spec(mechanism, cpus, (rate, rate), seed);
        let paced = paced_part(ipcperf.measure(&spec)?)?;
        let ratio = paced.achieved_per_s / paced.scheduled_per_s;
        right += u32::from((ratio - 1.0).abs() <= RATE_TOLERANCE);
    }
    Ok(Estimate::single(f64::from(right)))
}
