//! From samples to one figure for each case: median and quartiles over the kept repetitions.

mod best;

use std::collections::BTreeMap;

pub(crate) use best::{Ranking, rankings};

use ipcperf_engine::mechanism::{Delivery, find};
use ipcperf_engine::workload::Kind;
use ipcperf_stats::quartiles;
use serde::Serialize;

use crate::results::{CaseIdentity, FailedRun, RefusedRecord, Sample};

/// Median and quartiles over the kept repetitions of a case.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) q1: f64,
    pub(crate) q3: f64,
    /// Kept repetitions.
    pub(crate) n: usize,
}

impl Spread {
    fn of(values: &[f64]) -> Option<Self> {
        let quartiles = quartiles(values)?;
        Some(Self { median: quartiles.median, q1: quartiles.q1, q3: quartiles.q3, n: values.len() })
    }

    /// The interquartile range as a share of the median.
    pub(crate) fn relative_iqr(&self) -> f64 {
        if self.median > 0.0 { (self.q3 - self.q1) / self.median } else { 0.0 }
    }
}

/// What a case came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct CaseSummary {
    #[serde(flatten)]
    pub(crate) case: CaseIdentity,
    pub(crate) kernel_buffer_granted_bytes: Option<u64>,
    /// Samples marked as not to be counted.
    pub(crate) set_aside: usize,
    /// Runs that failed.
    pub(crate) failed: usize,
    /// Why the case was refused, where it was.
    pub(crate) refused: Option<String>,
    pub(crate) bandwidth_bytes_per_s: Option<Spread>,
    pub(crate) ns_per_message: Option<Spread>,
    pub(crate) round_trip_ns_mean: Option<Spread>,
    pub(crate) round_trip_ns_p50: Option<Spread>,
    pub(crate) round_trip_ns_p99: Option<Spread>,
    pub(crate) round_trip_ns_p999: Option<Spread>,
    pub(crate) lost_share: Option<Spread>,
    pub(crate) cacheline_round_trip_ns: Option<Spread>,
}

impl CaseSummary {
    /// The figure the case is about: bandwidth in bytes/s, the mean round trip in ns, or, where
    /// nothing moves, ns a message.
    pub(crate) fn main(&self) -> Option<Figure> {
        let nothing = moves_nothing(&self.case.mechanism);
        match self.case.workload {
            Kind::RoundTrip => self.round_trip_ns_mean.map(Figure::RoundTrip),
            Kind::Stream if nothing => self.ns_per_message.map(Figure::PerMessage),
            Kind::Stream => self.bandwidth_bytes_per_s.map(Figure::Bandwidth),
        }
    }

    /// Mechanism and options: what tables call a series.
    pub(crate) fn series(&self) -> String {
        let case = &self.case;
        if case.options.is_empty() {
            return case.mechanism.clone();
        }
        let options = case.options.iter().map(|(name, value)| format!("{name}={value}"));
        format!("{} {}", case.mechanism, options.collect::<Vec<_>>().join(" "))
    }
}

/// A case's main figure with what it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Figure {
    /// Bytes per second.
    Bandwidth(Spread),
    /// ns there and back.
    RoundTrip(Spread),
    /// ns a message.
    PerMessage(Spread),
}

impl Figure {
    pub(crate) fn spread(&self) -> Spread {
        match self {
            Self::Bandwidth(spread) | Self::RoundTrip(spread) | Self::PerMessage(spread) => *spread,
        }
    }
}

/// Whether `mechanism` moves nothing, and so is never ranked.
pub(crate) fn moves_nothing(mechanism: &str) -> bool {
    find(mechanism).is_some_and(|known| known.delivery == Delivery::Nothing)
}

/// The figure of one sample that its case is about.
#[allow(clippy::cast_precision_loss, reason = "a rate, good to 53 bits")]
pub(crate) fn main_figure(sample: &Sample) -> Option<f64> {
    sample
        .round_trip_ns_mean
        .or_else(|| sample.bandwidth_bytes_per_s.map(|bytes| bytes as f64))
        .or_else(|| ns_per_message(sample))
}

#[allow(clippy::cast_precision_loss, reason = "a mean, good to 53 bits")]
fn ns_per_message(sample: &Sample) -> Option<f64> {
    (sample.messages > 0).then(|| sample.elapsed_ns as f64 / sample.messages as f64)
}

#[allow(clippy::cast_precision_loss, reason = "a share of counts")]
fn lost_share(sample: &Sample) -> Option<f64> {
    let lost = sample.lost_messages?;
    Some(lost as f64 / (lost + sample.messages).max(1) as f64)
}

/// One summary for each case, in the order of `cases`, and one for each refused cell.
pub(crate) fn summarise(
    cases: &[String],
    refused: &[RefusedRecord],
    samples: &[Sample],
    failures: &[FailedRun],
) -> Vec<CaseSummary> {
    let mut by_case: BTreeMap<&str, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        by_case.entry(&sample.run.case.case_id).or_default().push(sample);
    }
    let measured = cases.iter().filter_map(|case| {
        let failed = failures.iter().filter(|failure| failure.run.case.case_id == *case).count();
        match by_case.get(case.as_str()) {
            Some(samples) => Some(summarise_case(samples, failed)),
            None => failures
                .iter()
                .find(|failure| failure.run.case.case_id == *case)
                .map(|failure| empty(&failure.run.case, failed)),
        }
    });
    measured.chain(refused.iter().map(summarise_refused)).collect()
}

fn summarise_case(samples: &[&Sample], failed: usize) -> CaseSummary {
    let kept: Vec<&Sample> =
        samples.iter().copied().filter(|sample| sample.set_aside.is_none()).collect();
    let spread = |figure: fn(&Sample) -> Option<f64>| {
        let values: Option<Vec<f64>> = kept.iter().map(|sample| figure(sample)).collect();
        values.and_then(|values| Spread::of(&values))
    };
    let first = samples[0];
    #[allow(clippy::cast_precision_loss, reason = "figures, good to 53 bits")]
    CaseSummary {
        set_aside: samples.len() - kept.len(),
        kernel_buffer_granted_bytes: first.kernel_buffer_granted_bytes,
        bandwidth_bytes_per_s: spread(|s| s.bandwidth_bytes_per_s.map(|bytes| bytes as f64)),
        ns_per_message: spread(ns_per_message),
        round_trip_ns_mean: spread(|s| s.round_trip_ns_mean),
        round_trip_ns_p50: spread(|s| s.round_trip_ns_p50.map(|ns| ns as f64)),
        round_trip_ns_p99: spread(|s| s.round_trip_ns_p99.map(|ns| ns as f64)),
        round_trip_ns_p999: spread(|s| s.round_trip_ns_p999.map(|ns| ns as f64)),
        lost_share: spread(lost_share),
        cacheline_round_trip_ns: spread(|s| s.cacheline_round_trip_ns),
        ..empty(&first.run.case, failed)
    }
}

fn summarise_refused(refused: &RefusedRecord) -> CaseSummary {
    CaseSummary { refused: Some(refused.reason.clone()), ..empty(&refused.case, 0) }
}

fn empty(case: &CaseIdentity, failed: usize) -> CaseSummary {
    CaseSummary {
        case: case.clone(),
        kernel_buffer_granted_bytes: None,
        set_aside: 0,
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
    }
}
