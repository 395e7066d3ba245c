//! The knee of a case: the highest rate at which the 99th percentile of the latency stays below a bound and the mechanism
//! carries the rate.
//!
//! The search is a function of the results so far, so that a measurement can be resumed and a reader sees the same steps
//! as the measurement. It begins at a hundredth of the unpaced rate, continues at that rate, and then halves the interval
//! between the highest rate that was good and the lowest that was not, on a logarithmic scale.

mod step;

use std::collections::{BTreeMap, HashSet};

use ipcperf_model::knee::{KneeSchedule, KneeSearch};
use ipcperf_model::rate::MAX_RATE_PER_S;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_stats::median;
use schemars::JsonSchema;
use serde::Serialize;

use super::CaseSummary;
use crate::{CaseIdentity, FailedRun, Results, Sample};

pub use step::{KneeStep, KneeVerdict, MAX_RUNS as KNEE_MAX_RUNS, MIN_RUNS as KNEE_MIN_RUNS};
use step::{StepRuns, Trial, TriedRate};

/// Quotient of the ends of the interval below which the search ends.
const PRECISION: f64 = 1.1;
/// Highest rate that is tried, as a multiple of the unpaced rate.
const HIGHEST: f64 = 4.0;
/// Lowest rate that is tried, as a part of the first one.
const LOWEST: u64 = 100;
/// Factor between the unpaced rate and the first rate that is tried.
const FIRST: f64 = 100.0;
/// Default bound on the 99th percentile, as a multiple of the median at the first rate.
const BOUND_PER_MEDIAN: f64 = 10.0;

/// Outcome of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KneeOutcome {
    /// The interval is narrow enough.
    Found,
    /// A rate could not be decided: too few undisturbed runs, or the bound lies within the interval of the percentile.
    Undecided,
    /// The bound was kept at four times the unpaced rate.
    AboveRange,
    /// The bound was exceeded at a ten-thousandth of the unpaced rate.
    BelowRange,
    /// A run failed, or there is no unpaced rate to start from.
    Failed,
    /// The measurement ended before the search.
    Unfinished,
}

/// Knee of a case with one schedule, and the steps of the search.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct KneeSummary {
    /// How the messages were scheduled.
    #[serde(flatten)]
    pub schedule: KneeSchedule,
    /// Median rate of the unpaced runs, messages or round trips per second.
    pub unpaced_per_s: Option<f64>,
    /// Bound on the 99th percentile of the latency from the schedule, ns.
    pub p99_bound_ns: Option<f64>,
    /// Highest rate that was good, messages per second: the lower end of the interval that contains the knee.
    pub low_per_s: Option<u64>,
    /// Lowest rate that was not good, messages per second: the upper end.
    pub high_per_s: Option<u64>,
    /// Outcome of the search.
    pub outcome: KneeOutcome,
    /// Rates that were tried, in ascending order.
    pub steps: Vec<KneeStep>,
}

/// Next action of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Run at this rate, messages per second.
    Run(u64),
    /// Stop.
    End(KneeOutcome),
}

/// Search for the knee of one case with one schedule, over the results so far.
#[derive(Debug)]
pub struct KneeProgress {
    schedule: KneeSchedule,
    unpaced_per_s: Option<f64>,
    bound_ns: Option<f64>,
    tried: BTreeMap<u64, TriedRate>,
}

impl KneeProgress {
    /// Collects the runs of the unpaced case `base`, and those with the same settings and `schedule` at any rate.
    #[must_use]
    pub fn new(
        search: &KneeSearch,
        base: &CaseIdentity,
        schedule: KneeSchedule,
        samples: &[Sample],
        failures: &[FailedRun],
    ) -> Self {
        let key = settings(base);
        let rate = |case: &CaseIdentity| {
            let is_scheduled =
                (case.arrivals, case.pacer) == (Some(schedule.arrivals), Some(schedule.pacer));
            case.rate_per_s.filter(|_| is_scheduled && settings(case) == key)
        };
        let mut steps = BTreeMap::<u64, StepRuns<'_>>::new();
        for sample in samples {
            if let Some(rate_per_s) = rate(&sample.run.case) {
                steps.entry(rate_per_s).or_default().add_sample(sample);
            }
        }
        for failure in failures {
            if let Some(rate_per_s) = rate(&failure.run.case) {
                steps.entry(rate_per_s).or_default().add_failure(failure);
            }
        }
        let unpaced = samples.iter().filter(|sample| sample.run.case.case_id == base.case_id);
        let unpaced_per_s = unpaced_rate(&unpaced.collect::<Vec<_>>());
        let median_ns = || steps.get(&first_rate(unpaced_per_s?))?.median_ns();
        #[allow(clippy::cast_precision_loss, reason = "a time, good to 53 bits")]
        let given_ns = search.p99_bound_ns.map(|ns| ns as f64);
        let bound_ns = given_ns.or_else(|| Some(BOUND_PER_MEDIAN * median_ns()?));
        let tried = steps.iter().map(|(&rate, runs)| (rate, runs.judge(rate, bound_ns))).collect();
        Self { schedule, unpaced_per_s, bound_ns, tried }
    }

    /// Rate at which runs are needed, messages per second; `None` if the search has ended.
    #[must_use]
    pub fn next_rate(&self) -> Option<u64> {
        match self.walk().next {
            Next::Run(rate_per_s) => Some(rate_per_s),
            Next::End(_) => None,
        }
    }

    /// Returns the result of the search so far.
    #[must_use]
    pub fn summary(&self) -> KneeSummary {
        let Walk { low, high, next } = self.walk();
        let outcome = match next {
            Next::Run(_) => KneeOutcome::Unfinished,
            Next::End(outcome) => outcome,
        };
        KneeSummary {
            schedule: self.schedule,
            unpaced_per_s: self.unpaced_per_s,
            p99_bound_ns: self.bound_ns,
            low_per_s: low,
            high_per_s: high,
            outcome,
            steps: self.tried.values().map(|tried| tried.step).collect(),
        }
    }

    /// Repeats the search as far as the runs reach.
    fn walk(&self) -> Walk {
        let mut walk = Walk { low: None, high: None, next: Next::End(KneeOutcome::Failed) };
        let Some(unpaced_per_s) = self.unpaced_per_s else { return walk };
        let first = first_rate(unpaced_per_s);
        let mut rate = first;
        loop {
            match self.tried.get(&rate).map_or(Trial::NeedsRuns, |tried| tried.trial) {
                Trial::NeedsRuns => return Walk { next: Next::Run(rate), ..walk },
                Trial::Failed => return Walk { next: Next::End(KneeOutcome::Failed), ..walk },
                Trial::Judged(KneeVerdict::Undecided) => {
                    return Walk { next: Next::End(KneeOutcome::Undecided), ..walk };
                }
                Trial::Judged(KneeVerdict::Below) => walk.low = Some(rate),
                Trial::Judged(KneeVerdict::Above) => walk.high = Some(rate),
            }
            walk.next = next_step(walk.low, walk.high, first, unpaced_per_s);
            match walk.next {
                Next::Run(next) => rate = next,
                Next::End(_) => return walk,
            }
        }
    }
}

/// State of a search: the interval and the next action.
#[derive(Clone, Copy, Debug)]
struct Walk {
    low: Option<u64>,
    high: Option<u64>,
    next: Next,
}

/// Returns the action after the interval between `low`, good, and `high`, not good.
#[allow(clippy::cast_precision_loss, reason = "rates of at most 1e9")]
fn next_step(low: Option<u64>, high: Option<u64>, first: u64, unpaced_per_s: f64) -> Next {
    match (low, high) {
        (Some(low), Some(high)) => {
            let middle = rounded((low as f64 * high as f64).sqrt());
            let is_between = low < middle && middle < high;
            if high as f64 > low as f64 * PRECISION && is_between {
                Next::Run(middle)
            } else {
                Next::End(KneeOutcome::Found)
            }
        }
        (Some(low), None) => {
            let unpaced = rounded(unpaced_per_s);
            let higher = if low < unpaced { unpaced } else { low.saturating_mul(2) };
            let is_tried = higher as f64 <= HIGHEST * unpaced_per_s.max(1.0) * PRECISION;
            if is_tried && (low + 1..=MAX_RATE_PER_S).contains(&higher) {
                Next::Run(higher)
            } else {
                Next::End(KneeOutcome::AboveRange)
            }
        }
        (None, Some(high)) if high / 10 >= (first / LOWEST).max(1) => {
            Next::Run(rounded(high as f64 / 10.0))
        }
        (None, _) => Next::End(KneeOutcome::BelowRange),
    }
}

/// Returns the first rate that is tried.
fn first_rate(unpaced_per_s: f64) -> u64 {
    rounded(unpaced_per_s / FIRST)
}

/// Returns `rate_per_s` with two significant digits, at least 1 and at most the highest rate: readers have to type it.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "clamped to 1 to 1e9"
)]
fn rounded(rate_per_s: f64) -> u64 {
    let rate_per_s = rate_per_s.clamp(1.0, MAX_RATE_PER_S as f64);
    let unit = 10_f64.powf(rate_per_s.log10().floor() - 1.0).max(1.0);
    ((rate_per_s / unit).round() * unit) as u64
}

/// Returns the median rate of the valid `samples`, or of the disturbed ones if all are disturbed, per second.
#[allow(clippy::cast_precision_loss, reason = "counts and times, good to 53 bits")]
fn unpaced_rate(samples: &[&Sample]) -> Option<f64> {
    let rate = |sample: &&Sample| sample.messages as f64 * 1e9 / sample.elapsed_ns.max(1) as f64;
    let is_valid = |sample: &&&Sample| sample.excluded.is_none();
    let valid: Vec<f64> = samples.iter().filter(is_valid).map(rate).collect();
    let used = if valid.is_empty() {
        samples.iter().filter(|sample| super::is_disturbed(sample)).map(rate).collect()
    } else {
        valid
    };
    median(&used).filter(|rate| *rate > 0.0)
}

/// Adds the knees that were searched to the summaries of the unpaced cases.
pub(super) fn add_knees(summaries: &mut [CaseSummary], results: &Results) {
    let Some(search) = &results.header.plan.knee else { return };
    let mut seen = HashSet::new();
    let unpaced = summaries.iter_mut().filter(|summary| summary.case.rate_per_s.is_none());
    // A case with several CPU distance classes has one search.
    for summary in unpaced.filter(|summary| summary.refused.is_none()) {
        let base = &summary.case;
        let Ok(placement) = base.placement.parse() else { continue };
        if !seen.insert(base.case_id.clone()) {
            continue;
        }
        let knee = |schedule| {
            let (samples, failures) = (&results.samples, &results.failures);
            KneeProgress::new(search, base, schedule, samples, failures).summary()
        };
        summary.knees = search.schedules(base.mode, placement).into_iter().map(knee).collect();
    }
}

/// Returns the settings that a case has at every rate.
fn settings(case: &CaseIdentity) -> CaseIdentity {
    CaseIdentity {
        case_id: String::new(),
        workload: match case.workload {
            WorkloadKind::Paced => WorkloadKind::Stream,
            other => other,
        },
        rate_per_s: None,
        arrivals: None,
        pacer: None,
        scheduled_messages: None,
        facts: None,
        name: None,
        ..case.clone()
    }
}

#[cfg(test)]
mod tests;
