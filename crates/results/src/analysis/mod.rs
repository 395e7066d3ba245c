//! Summarizes samples as one figure for each case and CPU distance class: median and quartiles over the valid
//! repetitions, the confidence interval of the median, and the modes if there are several.

mod amount;
mod best;
mod builds;
mod comparison;
mod cost;
mod counted;
mod left_out;
mod modes;
mod observed;
mod probe;
mod roof;
mod spread;
mod summarised;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub use best::{Side, advice, comparisons};
pub use builds::name_apart;
pub use comparison::{Comparison, Contender, LeftOut, Ranking, Refused, Undecided};
pub use cost::RoleCost;
pub use counted::{CountKind, Counted, What};
pub use modes::Mode;
pub use observed::{Observed, observed, observed_of};
pub use probe::probe_effects;
pub use roof::{Bound, Roof, takes_wake_ups};
pub use spread::Spread;
pub use summarised::Summarised;

use ipcperf_model::hardware_limits::Limits;
use ipcperf_model::parallel::map;
use ipcperf_model::workload::Kind;
use ipcperf_stats::{Bootstrap, median};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{CaseIdentity, FailedRun, RefusedRecord, Sample, SetAside};

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
    pub set_aside: usize,
    /// Number of excluded samples that were disturbed.
    pub disturbed: usize,
    /// Median of the main figure over the disturbed samples: not reliable, but an indication if there is no valid
    /// sample.
    pub disturbed_median: Option<f64>,
    /// Median of the main figure over all excluded samples, including the first block. It serves to detect a
    /// mechanism that might be the best although its runs are excluded.
    #[serde(skip)]
    pub set_aside_median: Option<f64>,
    /// Number of runs after the first block, including failed ones.
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
    /// CPU time of each role.
    pub roles: BTreeMap<String, RoleCost>,
    /// 95 % interval of the median of the main figure.
    pub median_interval: Option<[f64; 2]>,
    /// Modes of the main figure over the repetitions, if there are several.
    pub modes: Vec<Mode>,
    /// Modes of single round trips, if there are several.
    pub round_trip_modes: Vec<Mode>,
    /// Hardware limit that bounds the case, and the share of it that is reached; null if the file has no limits.
    pub roof: Option<Roof>,
    /// Values from counters and the profile, if they observed the case.
    pub counted: Vec<Counted>,
}

/// Returns the key of the main figure of a case.
fn main_figure_of(case: &CaseIdentity) -> &'static str {
    match case.workload {
        Kind::RoundTrip | Kind::RequestReply => "round_trip_ns_mean",
        Kind::Stream if case.moves_nothing() => "ns_per_message",
        Kind::Stream => "bandwidth_bytes_per_s",
    }
}

impl CaseSummary {
    /// Returns the main figure of the case: the bandwidth in bytes/s, the mean round trip in ns, or, if nothing is
    /// transferred, the time of a message in ns.
    pub fn main(&self) -> Option<Figure> {
        let nothing = self.case.moves_nothing();
        match self.case.workload {
            Kind::RoundTrip | Kind::RequestReply => self.round_trip_ns_mean.map(Figure::RoundTrip),
            Kind::Stream if nothing => self.ns_per_message.map(Figure::PerMessage),
            Kind::Stream => self.bandwidth_bytes_per_s.map(Figure::Bandwidth),
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
        format!("{}{}{options}{}", case.mechanism, self.build, self.amount)
    }
}

/// Main figure of a case, with its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// Bandwidth, bytes per second.
    Bandwidth(Spread),
    /// Round trip, ns.
    RoundTrip(Spread),
    /// Time of a message, ns.
    PerMessage(Spread),
}

impl Figure {
    /// Returns the median and quartiles.
    pub fn spread(&self) -> Spread {
        match self {
            Self::Bandwidth(spread) | Self::RoundTrip(spread) | Self::PerMessage(spread) => *spread,
        }
    }
}

/// Returns the main figure of one sample.
#[allow(clippy::cast_precision_loss, reason = "a rate, good to 53 bits")]
pub fn main_figure(sample: &Sample) -> Option<f64> {
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
pub fn summarise(
    cases: &[String],
    refused: &[RefusedRecord],
    samples: &[Sample],
    failures: &[FailedRun],
    limits: Option<&Limits>,
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
            first.runs += failed.iter().filter(|failure| failure.run.block > 0).count();
        }
        classes
    });
    let mut summaries: Vec<CaseSummary> =
        measured.into_iter().flatten().chain(refused.iter().map(summarise_refused)).collect();
    for summary in &mut summaries {
        summary.roof = limits.and_then(|limits| roof::roof(summary, limits));
    }
    summaries
}

/// Number of blocks after the first in which the case ran without a valid run.
fn missing_repetitions(samples: &[&Sample], failures: &[&FailedRun]) -> usize {
    let ran = samples.iter().map(|sample| sample.run.block);
    let ran = ran.chain(failures.iter().map(|failure| failure.run.block));
    let mut missing: BTreeSet<u32> = ran.filter(|block| *block > 0).collect();
    for sample in samples.iter().filter(|sample| sample.set_aside.is_none()) {
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
    for sample in samples.iter().filter(|sample| sample.set_aside.is_none()) {
        *counts.entry(&sample.cpu_pair_class).or_default() += 1;
    }
    let mut classes: Vec<&Option<String>> = counts.keys().copied().collect();
    classes.sort_by_key(|class| Reverse(counts[class]));
    let Some(&first) = classes.first() else {
        return vec![summarise_case(&None, samples, failed)];
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
    classes.iter().map(|class| summarise_case(class, &of_class[class], failed(*class))).collect()
}

fn summarise_case(class: &Option<String>, samples: &[&Sample], failed: usize) -> CaseSummary {
    let kept: Vec<&Sample> =
        samples.iter().copied().filter(|sample| sample.set_aside.is_none()).collect();
    let spread = |figure: fn(&Sample) -> Option<f64>| {
        let values: Option<Vec<f64>> = kept.iter().map(|sample| figure(sample)).collect();
        values.and_then(|values| Spread::of(&values))
    };
    let figures: Vec<f64> = kept.iter().filter_map(|sample| main_figure(sample)).collect();
    let held_up = samples.iter().filter(|sample| was_held_up(sample));
    let held_up: Vec<f64> = held_up.filter_map(|sample| main_figure(sample)).collect();
    let apart = samples.iter().filter(|sample| sample.set_aside.is_some());
    let apart: Vec<f64> = apart.filter_map(|sample| main_figure(sample)).collect();
    let first = samples[0];
    #[allow(clippy::cast_precision_loss, reason = "figures, good to 53 bits")]
    CaseSummary {
        cpu_pair_class: class.clone(),
        set_aside: samples.len() - kept.len(),
        disturbed: held_up.len(),
        disturbed_median: median(&held_up),
        set_aside_median: median(&apart),
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
        roles: cost::by_role(&kept),
        median_interval: Bootstrap::default().median(&figures).map(|i| [i.low, i.high]),
        modes: modes::of_repetitions(&figures),
        round_trip_modes: modes::of_trips(&kept),
        ..empty(&first.run.case, failed)
    }
}

/// Whether this run was disturbed.
pub fn was_held_up(sample: &Sample) -> bool {
    sample.set_aside.is_some_and(SetAside::is_disturbance)
}

fn summarise_refused(refused: &RefusedRecord) -> CaseSummary {
    CaseSummary { refused: Some(refused.reason.clone()), ..empty(&refused.case, 0) }
}

fn empty(case: &CaseIdentity, failed: usize) -> CaseSummary {
    CaseSummary {
        case: case.clone(),
        amount: String::new(),
        build: String::new(),
        mechanism_sha256: None,
        main_figure: main_figure_of(case),
        cpu_pair_class: None,
        kernel_buffer_granted_bytes: None,
        set_aside: 0,
        disturbed: 0,
        disturbed_median: None,
        set_aside_median: None,
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
        roles: BTreeMap::new(),
        median_interval: None,
        modes: Vec::new(),
        round_trip_modes: Vec::new(),
        roof: None,
        counted: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;

    /// Returns a sample of a case on two CPUs of `class`.
    fn apart(block: u32, class: Option<&str>, set_aside: Option<SetAside>) -> Sample {
        let mut sample = sample("pipe", Kind::Stream, 64, block, 1_000_000);
        sample.cpu_pair_class = class.map(str::to_owned);
        sample.set_aside = set_aside;
        sample
    }

    fn summaries(samples: &[Sample]) -> Vec<CaseSummary> {
        summarise(&[samples[0].run.case.case_id.clone()], &[], samples, &[], None)
    }

    #[test]
    fn each_class_has_its_own_figures() {
        let disturbed = Some(SetAside::Disturbed);
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
        let all = summaries(&[apart(1, None, Some(SetAside::Disturbed))]);
        assert_eq!((all.len(), all[0].disturbed, all[0].main()), (1, 1, None));
    }
}
