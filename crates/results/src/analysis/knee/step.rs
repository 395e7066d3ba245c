//! One rate of a search for the knee: its runs, and whether the bound was kept.

use std::collections::{BTreeMap, HashSet};

use ipcperf_model::round_trip_histogram::{pool, quantile};
use ipcperf_stats::Bootstrap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{FailedRun, Sample};

/// Number of undisturbed runs with which a rate is first judged.
pub const MIN_RUNS: u32 = 5;
/// Number of runs, disturbed ones included, after which a rate is given up.
pub const MAX_RUNS: u32 = 15;
/// Quantile that the bound refers to.
const QUANTILE: f64 = 0.99;
/// Resamples of the runs for the interval of the quantile: it decides on which side of the bound the quantile lies, for
/// which its ends need not be exact.
const RESAMPLES: u32 = 400;

/// Whether a rate is below the knee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KneeVerdict {
    /// The mechanism carries the rate, and the percentile is below the bound.
    Below,
    /// The mechanism does not carry the rate, or the percentile is not below the bound.
    Above,
    /// Neither can be said.
    Undecided,
}

/// Rate that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct KneeStep {
    /// Messages per second.
    pub rate_per_s: u64,
    /// Number of undisturbed runs.
    pub runs: usize,
    /// Number of them whose rate the mechanism could not carry.
    pub saturated_runs: usize,
    /// 99th percentile of the latencies from the schedule over all these runs, without messages that were due in a gap of
    /// their sender, ns.
    pub p99_ns: Option<f64>,
    /// 95 % interval of it, ns.
    pub p99_interval_ns: Option<[f64; 2]>,
    /// Whether the rate is below the knee.
    pub verdict: KneeVerdict,
}

/// State of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trial {
    /// More runs may decide.
    NeedsRuns,
    /// A run failed.
    Failed,
    /// Decided, or given up.
    Judged(KneeVerdict),
}

/// Rate that was tried, with its state.
#[derive(Clone, Copy, Debug)]
pub(super) struct TriedRate {
    pub(super) step: KneeStep,
    pub(super) trial: Trial,
}

/// Runs at one rate.
#[derive(Debug, Default)]
pub(super) struct StepRuns<'a> {
    valid: Vec<&'a Sample>,
    /// Blocks in which a run was attempted.
    blocks: HashSet<u32>,
    has_failed: bool,
}

impl<'a> StepRuns<'a> {
    pub(super) fn add_sample(&mut self, sample: &'a Sample) {
        self.blocks.insert(sample.run.block);
        if sample.excluded.is_none() {
            self.valid.push(sample);
        }
    }

    pub(super) fn add_failure(&mut self, failure: &FailedRun) {
        self.blocks.insert(failure.run.block);
        self.has_failed |= !failure.transient;
    }

    /// Median latency over all runs, ns; `None` until there are enough of them.
    pub(super) fn median_ns(&self) -> Option<f64> {
        if self.valid.len() < MIN_RUNS as usize {
            return None;
        }
        quantile(&pool(self.histograms()).ok()?, 0.5)
    }

    /// Judges the rate, given the bound if it is known.
    pub(super) fn judge(&self, rate_per_s: u64, bound_ns: Option<f64>) -> TriedRate {
        let is_saturated = |sample: &&&Sample| sample.paced.saturated == Some(true);
        let saturated_runs = self.valid.iter().filter(is_saturated).count();
        let p99_interval_ns = self.p99_interval_ns();
        let verdict = match (bound_ns, p99_interval_ns) {
            _ if self.valid.len() < MIN_RUNS as usize => KneeVerdict::Undecided,
            _ if 2 * saturated_runs > self.valid.len() => KneeVerdict::Above,
            (Some(bound_ns), Some([_, high])) if high < bound_ns => KneeVerdict::Below,
            (Some(bound_ns), Some([low, _])) if low >= bound_ns => KneeVerdict::Above,
            _ => KneeVerdict::Undecided,
        };
        let is_open = verdict == KneeVerdict::Undecided && self.blocks.len() < MAX_RUNS as usize;
        let step = KneeStep {
            rate_per_s,
            runs: self.valid.len(),
            saturated_runs,
            p99_ns: pool(self.histograms()).ok().and_then(|counts| quantile(&counts, QUANTILE)),
            p99_interval_ns,
            verdict,
        };
        let trial = match (self.has_failed, is_open) {
            (true, _) => Trial::Failed,
            (false, true) => Trial::NeedsRuns,
            (false, false) => Trial::Judged(verdict),
        };
        TriedRate { step, trial }
    }

    fn histograms(&self) -> impl Iterator<Item = &str> {
        self.valid.iter().filter_map(|sample| sample.paced.outside_gaps_histogram.as_deref())
    }

    /// Returns the 95 % interval of the 99th percentile, by resampling whole runs: the messages of one run are not
    /// independent.
    fn p99_interval_ns(&self) -> Option<[f64; 2]> {
        let runs: Result<Vec<_>, _> = self.histograms().map(|text| pool([text])).collect();
        let runs = runs.ok()?;
        let bootstrap = Bootstrap { resamples: RESAMPLES, ..Bootstrap::default() };
        let drawn = bootstrap.draws(runs.len(), |chosen| {
            let mut counts = BTreeMap::<u64, u64>::new();
            for (value, count) in chosen.iter().flat_map(|&run| &runs[run]) {
                *counts.entry(*value).or_default() += count;
            }
            quantile(&counts.into_iter().collect::<Vec<_>>(), QUANTILE)
        })?;
        let mut drawn: Vec<f64> = drawn.into_iter().collect::<Option<_>>()?;
        drawn.sort_by(f64::total_cmp);
        // The interval leaves out a fortieth of the resamples at each end.
        let tail = drawn.len() / 40;
        Some([*drawn.get(tail)?, *drawn.get(drawn.len() - 1 - tail)?])
    }
}
