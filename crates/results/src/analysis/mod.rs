//! Summarizes samples as one figure for each case and CPU distance class: median and quartiles over the valid
//! repetitions, the confidence interval of the median, and the modes if there are several.

mod amount;
mod analyzed_file;
mod builds;
mod comparison;
mod cost;
mod counted_values;
mod hardware_limit;
mod knee;
mod modes;
mod no_ranking;
mod observed_cases;
mod paced;
mod peer_blocks;
mod peer_cost;
mod peers;
mod pooled_profile;
mod pooling;
mod probe_effect;
mod ranking;
mod sampling;
mod scalability;
mod spread;
mod traced_runs;
mod unranked;
mod valid_samples;
mod wait_recommendation;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub use analyzed_file::AnalyzedFile;
pub use builds::disambiguate;
pub use comparison::{
    Comparison, Contender, Ranking, RefusedComparison, UndecidedComparison, UnrankedMechanism,
};
pub use cost::{RoleCost, cpu_ns_per_message};
pub use counted_values::{CountKind, CountedQuantity, CountedValue};
pub use hardware_limit::{Bound, HardwareLimitShare, has_wake_ups};
pub use knee::{
    KNEE_MAX_RUNS, KNEE_MIN_RUNS, KneeOutcome, KneeProgress, KneeStep, KneeSummary, KneeVerdict,
};
pub use modes::DistributionMode;
pub use no_ranking::{NoRanking, why_not_ranked};
pub use observed_cases::{ObservedCase, observed_cases, observed_cases_where};
pub use paced::PacedSummary;
pub use peer_cost::PeerCost;
pub use peers::PeersSummary;
pub use probe_effect::probe_effects;
pub use ranking::{ComparedSize, comparisons, comparisons_at};
pub use sampling::{ProfileSampling, SuggestedRun};
pub use scalability::{ScalabilityFit, ScalabilitySummary};
pub use spread::Spread;
pub use traced_runs::{TracedRun, traced_runs};
pub use valid_samples::{ValidSamples, drift};
pub use wait_recommendation::{
    LatencyFigure, NoRecommendation, WAIT_OPTION, cases_by_wait, wait_of, why_no_recommendation,
};

use ipcperf_model::hardware_limits::HardwareLimits;
use ipcperf_model::parallel::map;
use ipcperf_model::workload::{Arrangement, WorkloadKind};
use ipcperf_stats::{Bootstrap, median};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{CaseIdentity, ExclusionReason, FailedRun, RefusedRecord, Sample};

/// Summary of a case in one CPU distance class.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CaseSummary {
    /// Identity of the case.
    #[serde(flatten)]
    pub case: CaseIdentity,
    /// Amount of payload as text, if other cases differ only in it; `case_id` contains it too.
    #[serde(skip)]
    pub amount: String,
    /// File of the custom mechanism as text, if other results have a different file with the same name.
    #[serde(skip)]
    pub build: String,
    /// SHA-256 of the file of a custom mechanism, in hexadecimal; null for other mechanisms and if unknown.
    pub mechanism_sha256: Option<String>,
    /// Key of the main figure of the case, which `disturbed_median`, `median_interval` and `modes` refer to, in its
    /// unit.
    pub main_figure: &'static str,
    /// CPU distance class of the two CPUs; null on one CPU.
    pub cpu_pair_class: Option<String>,
    /// Kernel buffer size granted, bytes.
    pub kernel_buffer_granted_bytes: Option<u64>,
    /// Number of excluded samples, including the one of the first block.
    pub excluded: usize,
    /// Number of excluded samples that were disturbed.
    pub disturbed: usize,
    /// Median of the main figure over the disturbed samples: not reliable, but an indication if there is no valid
    /// sample.
    pub disturbed_median: Option<f64>,
    /// Median of the main figure over all excluded samples, including the first block. It serves to detect a
    /// mechanism that might be the best although its runs are excluded.
    #[serde(skip)]
    pub excluded_median: Option<f64>,
    /// Number of runs after the first block, and of failed runs of all blocks.
    #[serde(skip)]
    pub runs: usize,
    /// Number of missing repetitions: those without a valid run, because all were disturbed or failed.
    pub missing_repetitions: usize,
    /// Number of failed runs.
    pub failed: usize,
    /// Reason why the case was refused; null if it was not.
    pub refused: Option<String>,
    /// Bandwidth: payload that arrived, bytes per second.
    pub bandwidth_bytes_per_s: Option<Spread>,
    /// Elapsed time divided by the number of messages, ns.
    pub ns_per_message: Option<Spread>,
    /// Mean round trip, ns.
    pub round_trip_ns_mean: Option<Spread>,
    /// Median round trip, ns.
    pub round_trip_ns_p50: Option<Spread>,
    /// 99th percentile of round trips, ns.
    pub round_trip_ns_p99: Option<Spread>,
    /// 99.9th percentile of round trips, ns.
    pub round_trip_ns_p999: Option<Spread>,
    /// Share of the messages that never arrived.
    pub lost_share: Option<Spread>,
    /// Round trip of a cache line between the two CPUs, ns.
    pub cacheline_round_trip_ns: Option<Spread>,
    /// Figures of a paced case; absent in other cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paced: Option<PacedSummary>,
    /// Rates of the peers; absent in cases with two peers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_rates: Option<PeersSummary>,
    /// CPU time of one more peer, at the largest number of peers of cases that differ only in it; absent in other cases, and for
    /// fewer than three numbers of peers, or fewer than six blocks with valid runs of all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_cost: Option<PeerCost>,
    /// How the throughput grows with the number of pairs, at the largest number of cases that differ only in it; absent in other
    /// cases, and for fewer than three numbers of pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scalability: Option<ScalabilitySummary>,
    /// Knees of an unpaced case, one for each schedule; absent unless `--find-knee` searched for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub knees: Vec<KneeSummary>,
    /// Figures for which this case is chosen among those that differ only in how their peers wait: the least CPU time per
    /// message with a latency of at most twice that of peers that never sleep. Absent in other cases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recommended_wait_for: Vec<LatencyFigure>,
    /// CPU time of a message, or round trip, ns: of all roles, and of the kernel threads that work for the mechanism.
    pub cpu_ns_per_message: Option<Spread>,
    /// CPU time of each role.
    pub roles: BTreeMap<String, RoleCost>,
    /// 95 % interval of the median of the main figure.
    pub median_interval: Option<[f64; 2]>,
    /// Modes of the main figure over the repetitions, if there are several.
    pub modes: Vec<DistributionMode>,
    /// Modes of single round trips, if there are several.
    pub round_trip_modes: Vec<DistributionMode>,
    /// Hardware limit that bounds the case, and the share of it that is reached; null if the file has no limits.
    pub hardware_limit: Option<HardwareLimitShare>,
    /// Values from counters and the profile, if they observed the case.
    pub counted: Vec<CountedValue>,
}

/// Returns the key of the main figure of a case.
fn main_figure_key(case: &CaseIdentity) -> &'static str {
    match (case.workload.is_answered(), case.rate_per_s.is_some()) {
        (false, true) => "one_way_ns_p50",
        (true, true) => "round_trip_ns_p50",
        (true, false) => "round_trip_ns_mean",
        (false, false) if case.is_harness_only() => "ns_per_message",
        (false, false) => "bandwidth_bytes_per_s",
    }
}

impl CaseSummary {
    /// Returns the main figure of the case: the bandwidth in bytes/s, the mean round trip in ns, the median latency of a
    /// paced case in ns, or, if nothing is transferred, the time of a message in ns.
    pub fn main(&self) -> Option<MainFigure> {
        let nothing = self.case.is_harness_only();
        if self.case.rate_per_s.is_some() {
            return self.paced.as_ref()?.latency_ns_p50.map(MainFigure::Latency);
        }
        match self.case.workload {
            WorkloadKind::Paced => None,
            answered if answered.is_answered() => {
                self.round_trip_ns_mean.map(MainFigure::RoundTrip)
            }
            _ if nothing => self.ns_per_message.map(MainFigure::PerMessage),
            _ => self.bandwidth_bytes_per_s.map(MainFigure::Bandwidth),
        }
    }

    /// Whether too few repetitions are valid for a ranking: none, or fewer than half. The valid runs of a case that
    /// was disturbed most of the time do not represent its usual behavior.
    pub fn is_mostly_missing(&self) -> bool {
        self.main().is_none_or(|figure| self.missing_repetitions > figure.spread().n)
    }

    /// Returns the name of the series in tables: mechanism and options, and the amount if it distinguishes the case
    /// from others.
    pub fn series(&self) -> String {
        let case = &self.case;
        let options = case.options.iter().map(|(name, value)| format!(" {name}={value}"));
        let options: String = options.collect();
        let peers = match (case.peers, case.workload.facts().arrangement) {
            (None, _) => String::new(),
            (Some(1), Arrangement::Pairs) => ", 1 pair".to_owned(),
            (Some(1), _) => ", 1 peer".to_owned(),
            (Some(count), Arrangement::Pairs) => format!(", {count} pairs"),
            (Some(count), _) => format!(", {count} peers"),
        };
        format!("{}{}{options}{}{peers}", case.mechanism, self.build, self.amount)
    }
}

/// Main figure of a case, with its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MainFigure {
    /// Bandwidth, bytes per second.
    Bandwidth(Spread),
    /// Round trip, ns.
    RoundTrip(Spread),
    /// Time of a message, ns.
    PerMessage(Spread),
    /// Median latency from the schedule, ns.
    Latency(Spread),
}

impl MainFigure {
    /// Returns the median and quartiles.
    pub fn spread(&self) -> Spread {
        match self {
            Self::Bandwidth(spread)
            | Self::RoundTrip(spread)
            | Self::PerMessage(spread)
            | Self::Latency(spread) => *spread,
        }
    }
}

/// Returns the main figure of one sample.
#[allow(clippy::cast_precision_loss, reason = "a rate, good to 53 bits")]
pub fn main_figure(sample: &Sample) -> Option<f64> {
    if sample.run.case.rate_per_s.is_some() {
        return paced::latency_ns_p50(sample);
    }
    sample
        .round_trip_ns_mean
        .or_else(|| sample.bandwidth_bytes_per_s.map(|bytes| bytes as f64))
        .or_else(|| ns_per_message(sample))
}

/// Returns the time of one message, or round trip, of a run, ns.
#[allow(clippy::cast_precision_loss, reason = "a mean, good to 53 bits")]
pub fn ns_per_message(sample: &Sample) -> Option<f64> {
    (sample.messages > 0).then(|| sample.elapsed_ns as f64 / sample.messages as f64)
}

#[allow(clippy::cast_precision_loss, reason = "a share of counts")]
fn lost_share(sample: &Sample) -> Option<f64> {
    let lost = sample.lost_messages?;
    Some(lost as f64 / lost.saturating_add(sample.messages).max(1) as f64)
}

/// Returns one summary for each case and CPU distance class, in the order of `cases`, and one for each refused
/// cell.
pub fn summarize(
    cases: &[String],
    refused: &[RefusedRecord],
    samples: &[Sample],
    failures: &[FailedRun],
    limits: Option<&HardwareLimits>,
) -> Vec<CaseSummary> {
    let samples = by_case(samples, |sample| &sample.run.case);
    let failures = by_case(failures, |failure| &failure.run.case);
    let measured = map(cases.iter(), |case| {
        let failed = failures.get(case.as_str()).map_or(&[][..], Vec::as_slice);
        let samples = samples.get(case.as_str()).map_or(&[][..], Vec::as_slice);
        let mut classes = match (samples, failed.first()) {
            ([], Some(first)) => vec![empty(&first.run.case, failed.len())],
            ([], None) => Vec::new(),
            _ => by_class(samples, failed.len()),
        };
        // Runs without a class are counted with the first class.
        if let Some(first) = classes.first_mut() {
            first.missing_repetitions = missing_repetitions(samples, failed);
            first.runs += failed.len();
        }
        classes
    });
    let mut summaries: Vec<CaseSummary> =
        measured.into_iter().flatten().chain(refused.iter().map(summarize_refused)).collect();
    for summary in &mut summaries {
        summary.hardware_limit =
            limits.and_then(|limits| hardware_limit::hardware_limit(summary, limits));
    }
    summaries
}

/// Number of blocks after the first in which the case ran without a valid run.
fn missing_repetitions(samples: &[&Sample], failures: &[&FailedRun]) -> usize {
    let ran = samples.iter().map(|sample| sample.run.block);
    let ran = ran.chain(failures.iter().map(|failure| failure.run.block));
    let mut missing: BTreeSet<u32> = ran.filter(|block| *block > 0).collect();
    for sample in samples.iter().filter(|sample| sample.excluded.is_none()) {
        missing.remove(&sample.run.block);
    }
    missing.len()
}

/// Groups `items` by the case that `case` returns for them, keeping their order.
fn by_case<T>(items: &[T], case: impl Fn(&T) -> &CaseIdentity) -> HashMap<&str, Vec<&T>> {
    let mut groups: HashMap<&str, Vec<&T>> = HashMap::new();
    for item in items {
        groups.entry(&case(item).case_id).or_default().push(item);
    }
    groups
}

/// Groups the samples of a case by class, the most frequent first. Samples without a class, because they were
/// disturbed, are counted with the first class.
fn by_class(samples: &[&Sample], failed: usize) -> Vec<CaseSummary> {
    let mut counts: BTreeMap<&Option<String>, usize> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.excluded.is_none()) {
        *counts.entry(&sample.cpu_pair_class).or_default() += 1;
    }
    let mut classes: Vec<&Option<String>> = counts.keys().copied().collect();
    classes.sort_by_key(|class| Reverse(counts[class]));
    let Some(&first) = classes.first() else {
        return vec![summarize_case(&None, samples, failed)];
    };
    let class = |sample: &Sample| {
        let of_its_own = counts.get_key_value(&sample.cpu_pair_class);
        of_its_own.map_or(first, |(class, _)| *class)
    };
    let mut of_class: HashMap<&Option<String>, Vec<&Sample>> = HashMap::new();
    for sample in samples {
        of_class.entry(class(sample)).or_default().push(sample);
    }
    let failed = |class| if class == first { failed } else { 0 };
    classes.iter().map(|class| summarize_case(class, &of_class[class], failed(*class))).collect()
}

fn summarize_case(class: &Option<String>, samples: &[&Sample], failed: usize) -> CaseSummary {
    let valid: Vec<&Sample> =
        samples.iter().copied().filter(|sample| sample.excluded.is_none()).collect();
    let spread = |figure: fn(&Sample) -> Option<f64>| {
        let values: Option<Vec<f64>> = valid.iter().map(|sample| figure(sample)).collect();
        values.and_then(|values| Spread::from_values(&values))
    };
    let figures: Vec<f64> = valid.iter().filter_map(|sample| main_figure(sample)).collect();
    let disturbed = samples.iter().filter(|sample| is_disturbed(sample));
    let disturbed: Vec<f64> = disturbed.filter_map(|sample| main_figure(sample)).collect();
    let excluded = samples.iter().filter(|sample| sample.excluded.is_some());
    let excluded: Vec<f64> = excluded.filter_map(|sample| main_figure(sample)).collect();
    let first = samples[0];
    #[allow(clippy::cast_precision_loss, reason = "figures, good to 53 bits")]
    CaseSummary {
        cpu_pair_class: class.clone(),
        excluded: samples.len() - valid.len(),
        disturbed: disturbed.len(),
        disturbed_median: median(&disturbed),
        excluded_median: median(&excluded),
        runs: samples.iter().filter(|sample| sample.run.block > 0).count(),
        kernel_buffer_granted_bytes: first.kernel_buffer_granted_bytes,
        bandwidth_bytes_per_s: spread(|s| s.bandwidth_bytes_per_s.map(|bytes| bytes as f64)),
        ns_per_message: spread(ns_per_message),
        round_trip_ns_mean: spread(|s| s.round_trip_ns_mean),
        round_trip_ns_p50: spread(|s| s.round_trip_ns_p50.map(|ns| ns as f64)),
        round_trip_ns_p99: spread(|s| s.round_trip_ns_p99.map(|ns| ns as f64)),
        round_trip_ns_p999: spread(|s| s.round_trip_ns_p999.map(|ns| ns as f64)),
        lost_share: spread(lost_share),
        cacheline_round_trip_ns: spread(|s| s.cacheline_round_trip_ns),
        paced: PacedSummary::new(samples),
        peer_rates: PeersSummary::new(&valid),
        peer_cost: None,
        scalability: None,
        knees: Vec::new(),
        recommended_wait_for: Vec::new(),
        cpu_ns_per_message: spread(cpu_ns_per_message),
        roles: cost::by_role(&valid),
        median_interval: Bootstrap::default().median(&figures).map(|i| [i.low, i.high]),
        modes: modes::of_repetitions(&figures),
        round_trip_modes: modes::of_trips(&valid),
        ..empty(&first.run.case, failed)
    }
}

/// Whether this run was disturbed.
pub fn is_disturbed(sample: &Sample) -> bool {
    sample.excluded.is_some_and(ExclusionReason::is_disturbance)
}

fn summarize_refused(refused: &RefusedRecord) -> CaseSummary {
    CaseSummary { refused: Some(refused.reason.clone()), ..empty(&refused.case, 0) }
}

fn empty(case: &CaseIdentity, failed: usize) -> CaseSummary {
    CaseSummary {
        case: case.clone(),
        amount: String::new(),
        build: String::new(),
        mechanism_sha256: None,
        main_figure: main_figure_key(case),
        cpu_pair_class: None,
        kernel_buffer_granted_bytes: None,
        excluded: 0,
        disturbed: 0,
        disturbed_median: None,
        excluded_median: None,
        runs: 0,
        missing_repetitions: 0,
        failed,
        refused: None,
        bandwidth_bytes_per_s: None,
        ns_per_message: None,
        round_trip_ns_mean: None,
        round_trip_ns_p50: None,
        round_trip_ns_p99: None,
        round_trip_ns_p999: None,
        lost_share: None,
        cacheline_round_trip_ns: None,
        peer_rates: None,
        peer_cost: None,
        scalability: None,
        paced: None,
        knees: Vec::new(),
        recommended_wait_for: Vec::new(),
        cpu_ns_per_message: None,
        roles: BTreeMap::new(),
        median_interval: None,
        modes: Vec::new(),
        round_trip_modes: Vec::new(),
        hardware_limit: None,
        counted: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;

    /// Returns a sample of a case on two CPUs of `class`.
    fn apart(block: u32, class: Option<&str>, excluded: Option<ExclusionReason>) -> Sample {
        let mut sample = sample("pipe", WorkloadKind::Stream, 64, block, 1_000_000);
        sample.cpu_pair_class = class.map(str::to_owned);
        sample.excluded = excluded;
        sample
    }

    fn summaries(samples: &[Sample]) -> Vec<CaseSummary> {
        summarize(&[samples[0].run.case.case_id.clone()], &[], samples, &[], None)
    }

    #[test]
    fn each_class_has_its_own_figures() {
        let disturbed = Some(ExclusionReason::Disturbed);
        let samples = [
            apart(1, Some("46ns"), None),
            apart(2, Some("375ns"), None),
            apart(3, Some("375ns"), None),
            apart(4, None, disturbed),
            apart(5, Some("46ns"), disturbed),
        ];
        let all = summaries(&samples);
        let facts: Vec<_> = all
            .iter()
            .map(|s| (s.cpu_pair_class.as_deref(), s.main().unwrap().spread().n, s.disturbed))
            .collect();
        assert_eq!(facts, [(Some("375ns"), 2, 1), (Some("46ns"), 1, 1)]);
    }

    #[test]
    fn a_case_that_was_always_disturbed_has_no_figure_but_is_there() {
        let all = summaries(&[apart(1, None, Some(ExclusionReason::Disturbed))]);
        assert_eq!((all.len(), all[0].disturbed, all[0].main()), (1, 1, None));
    }
}
