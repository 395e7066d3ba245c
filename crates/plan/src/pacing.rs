//! Parses the schedule of paced traffic: rates, arrivals, pacers and the duration.

use std::time::Duration;

use ipcperf_model::knee::KneeSearch;
use ipcperf_model::pacing::{self, Arrivals, Pacer, Pacing};
use ipcperf_model::rate;
use ipcperf_model::workload::WorkloadKind;

use crate::factor::Factor;
use crate::factor_error::{FactorError, Reason};
use crate::spelling;
use crate::total::Total;
use crate::typed::{TypedKnee, TypedLevels, TypedPacing};

/// Maximum duration of the schedule of a run, s (one hour): a longer one is a typing error.
const MAX_DURATION_S: f64 = 3_600.0;

/// Maximum bound on the 99th percentile, s: runs last a second by default.
const MAX_P99_S: f64 = 60.0;

/// Requested schedules. Without a rate, nothing is paced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedPacing {
    /// Messages per second.
    pub rates: Vec<u64>,
    /// Distributions of the times between messages.
    pub arrivals: Vec<Arrivals>,
    /// Pacers; empty for the default of each placement.
    pub pacers: Vec<Pacer>,
    /// Duration of the schedule of a run; `None` for the default.
    pub duration: Option<Duration>,
    /// Search for the knee. Then there are no rates: the search chooses them.
    pub knee: Option<RequestedKnee>,
}

/// Requested search for the knee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestedKnee {
    /// Bound on the 99th percentile; `None` for the default.
    pub p99_bound: Option<Duration>,
}

impl RequestedPacing {
    /// Returns the workload that a request for `workload` means: a stream with a rate is paced. A search for the knee begins
    /// with the stream.
    #[must_use]
    pub const fn workload(&self, workload: WorkloadKind) -> WorkloadKind {
        match workload {
            WorkloadKind::Stream if !self.rates.is_empty() => WorkloadKind::Paced,
            WorkloadKind::Paced if self.knee.is_some() => WorkloadKind::Stream,
            other => other,
        }
    }

    /// Returns the search for the knee.
    pub(crate) fn knee_search(&self) -> Option<KneeSearch> {
        let ns = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.knee.map(|knee| KneeSearch {
            p99_bound_ns: knee.p99_bound.map(ns),
            arrivals: self.arrivals.clone(),
            pacers: self.pacers.clone(),
            duration_ns: self.duration.map(ns),
        })
    }

    /// Number of schedules of each cell; 1 without a rate.
    pub(crate) fn level_count(&self) -> usize {
        let levels = [self.rates.len(), self.arrivals.len().max(1), self.pacers.len().max(1)];
        if self.rates.is_empty() { 1 } else { levels.into_iter().fold(1, usize::saturating_mul) }
    }

    /// Returns the schedules of a cell whose senders have the pacer `usual` by default; one `None` without a rate.
    pub(crate) fn levels(&self, usual: Pacer) -> Vec<Option<Pacing>> {
        if self.rates.is_empty() {
            return vec![None];
        }
        let usual = [usual];
        let pacers = if self.pacers.is_empty() { &usual[..] } else { &self.pacers };
        let mut levels = Vec::new();
        for &rate_per_s in &self.rates {
            let messages = pacing::message_count(rate_per_s, self.duration);
            for &arrivals in &self.arrivals {
                let one = |&pacer| Some(Pacing { rate_per_s, arrivals, pacer, messages, seed: 0 });
                levels.extend(pacers.iter().map(one));
            }
        }
        levels
    }
}

/// Maximum duration of the schedule of a run with a default or a given number of messages, ns: at 1 message per second,
/// the default takes 2,000 s.
pub(crate) fn max_duration_ns() -> u64 {
    // Far below 2^64.
    u64::try_from(Duration::from_secs_f64(MAX_DURATION_S).as_nanos()).unwrap_or(u64::MAX)
}

/// Schedules, each setting parsed separately.
#[derive(Debug)]
pub(super) struct ParsedPacing {
    rates: Result<Vec<u64>, FactorError>,
    arrivals: Result<Vec<Arrivals>, FactorError>,
    pacers: Result<Vec<Pacer>, FactorError>,
    duration: Result<Option<Duration>, FactorError>,
    knee: Result<Option<RequestedKnee>, FactorError>,
    /// A setting that was given and has no effect without a rate, with its first word.
    given: Option<(Factor, String)>,
}

impl TypedPacing<'_> {
    pub(super) fn parse(&self) -> ParsedPacing {
        let first = |factor, levels: Option<TypedLevels<'_>>| {
            let word = levels?.levels().first().map(|word| (*word).to_owned());
            word.map(|word| (factor, word))
        };
        let duration = self.duration_s.map(|_| (Factor::Duration, String::new()));
        ParsedPacing {
            rates: self.rate.map_or(Ok(Vec::new()), parse_rates),
            arrivals: spelling::parse_levels(Factor::Arrivals, self.arrivals, parse_arrivals),
            pacers: self.pacer.map_or(Ok(Vec::new()), |words| {
                spelling::parse_list(Factor::Pacer, words, parse_pacer)
            }),
            duration: self.duration_s.map(parse_duration).transpose(),
            knee: self.knee.map(parse_knee).transpose(),
            given: first(Factor::Arrivals, self.arrivals)
                .or_else(|| first(Factor::Pacer, self.pacer))
                .or(duration),
        }
    }
}

impl ParsedPacing {
    /// Returns the settings that could not be parsed.
    pub(super) fn errors(&self) -> impl Iterator<Item = &FactorError> {
        let errors = [
            self.rates.as_ref().err(),
            self.arrivals.as_ref().err(),
            self.pacers.as_ref().err(),
            self.duration.as_ref().err(),
            self.knee.as_ref().err(),
        ];
        errors.into_iter().flatten()
    }

    /// Whether a search for the knee was requested.
    pub(super) fn searches_knee(&self) -> bool {
        matches!(self.knee, Ok(Some(_)))
    }

    /// Returns the settings that contradict `workloads` or `total`.
    pub(super) fn contradictions(
        &self,
        workloads: &[WorkloadKind],
        total: Option<Total>,
    ) -> Vec<FactorError> {
        let Ok(rates) = &self.rates else { return Vec::new() };
        if !rates.is_empty() {
            let is_total = total.is_some_and(|total| total != Total::Calibrated);
            let error = || {
                FactorError::new(Factor::Total, "", Reason::NotWith(Factor::Rate, Factor::Duration))
            };
            return is_total.then(error).into_iter().collect();
        }
        if !matches!(self.knee, Ok(None)) {
            return Vec::new();
        }
        let paced = workloads.contains(&WorkloadKind::Paced);
        let paced = paced.then(|| (Factor::Workload, WorkloadKind::Paced.name().to_owned()));
        let idle = paced.or_else(|| self.given.clone());
        idle.map(|(factor, word)| FactorError::new(factor, &word, Reason::NeedsRate))
            .into_iter()
            .collect()
    }

    /// Returns the schedules.
    ///
    /// # Errors
    /// Returns the first setting that could not be parsed.
    pub(super) fn into_requested(self) -> Result<RequestedPacing, FactorError> {
        Ok(RequestedPacing {
            rates: self.rates?,
            arrivals: self.arrivals?,
            pacers: self.pacers?,
            duration: self.duration?,
            knee: self.knee?,
        })
    }
}

fn parse_rates(words: TypedLevels<'_>) -> Result<Vec<u64>, FactorError> {
    rate::parse_items(&words.levels())
        .map_err(|error| FactorError::new(Factor::Rate, "", Reason::Rate(error)))
}

fn parse_arrivals(word: &str) -> Result<Arrivals, FactorError> {
    let takes = || Reason::Takes(pacing::VALID_ARRIVALS.to_owned());
    word.parse().map_err(|_| FactorError::new(Factor::Arrivals, word, takes()))
}

fn parse_pacer(word: &str) -> Result<Pacer, FactorError> {
    let known = Pacer::ALL.into_iter().find(|pacer| pacer.name() == word);
    let names = Pacer::ALL.into_iter().map(Pacer::name);
    known.ok_or_else(|| FactorError::unknown(Factor::Pacer, word, names))
}

fn parse_duration(seconds: f64) -> Result<Duration, FactorError> {
    if seconds > 0.0 && seconds <= MAX_DURATION_S {
        return Ok(Duration::from_secs_f64(seconds));
    }
    let range = Reason::MustBe(format!("more than 0 s and at most {MAX_DURATION_S} s"));
    Err(FactorError::new(Factor::Duration, &format!("{seconds} s"), range))
}

fn parse_knee(typed: TypedKnee) -> Result<RequestedKnee, FactorError> {
    let Some(seconds) = typed.p99_s else { return Ok(RequestedKnee { p99_bound: None }) };
    if seconds > 0.0 && seconds <= MAX_P99_S {
        return Ok(RequestedKnee { p99_bound: Some(Duration::from_secs_f64(seconds)) });
    }
    let range = Reason::MustBe(format!("more than 0 s and at most {MAX_P99_S} s"));
    Err(FactorError::new(Factor::KneeP99, &format!("{seconds} s"), range))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(rate: Option<&str>, arrivals: Option<&str>) -> ParsedPacing {
        let text = |word| TypedLevels::Text(word);
        TypedPacing { rate: rate.map(text), arrivals: arrivals.map(text), ..TypedPacing::default() }
            .parse()
    }

    #[test]
    fn every_rate_is_combined_with_all_arrivals() {
        let pacing = parsed(Some("1k,20k"), Some("even,poisson,burst:8")).into_requested().unwrap();
        let levels = pacing.levels(Pacer::Spin);
        assert_eq!((levels.len(), pacing.level_count()), (6, 6));
        let first = levels[0].unwrap();
        assert_eq!((first.messages, first.pacer), (2_000, Pacer::Spin));
        assert_eq!(levels[5].unwrap().arrivals, Arrivals::Burst(8));
        let same = pacing.levels(Pacer::Sleep);
        assert_eq!(same[0].unwrap().pacer, Pacer::Sleep);
    }

    #[test]
    fn without_a_rate_nothing_is_paced() {
        let pacing = parsed(None, None).into_requested().unwrap();
        assert_eq!(pacing.levels(Pacer::Spin), [None]);
        assert_eq!(pacing.workload(WorkloadKind::Stream), WorkloadKind::Stream);
        let paced = parsed(Some("1k"), None).into_requested().unwrap();
        assert_eq!(paced.workload(WorkloadKind::Stream), WorkloadKind::Paced);
        assert_eq!(paced.workload(WorkloadKind::RoundTrip), WorkloadKind::RoundTrip);
    }

    #[test]
    fn contradictions_are_named() {
        let words = |pacing: ParsedPacing, workload, total| {
            pacing
                .contradictions(&[workload], Some(total))
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        let (stream, paced, calibrated) =
            (WorkloadKind::Stream, WorkloadKind::Paced, Total::Calibrated);
        assert_eq!(
            words(parsed(None, None), paced, calibrated),
            ["-w paced needs --rate, such as --rate 10k"]
        );
        let arrivals = words(parsed(None, Some("poisson")), stream, calibrated);
        assert_eq!(arrivals, ["--arrivals poisson needs --rate, such as --rate 10k"]);
        let total = words(parsed(Some("1k"), None), paced, Total::Bytes(5));
        assert_eq!(total, ["--total does not apply with --rate; use --duration"]);
        assert!(words(parsed(Some("1k"), None), stream, calibrated).is_empty());
    }

    #[test]
    fn a_search_for_the_knee_begins_without_a_rate() {
        let (arrivals, p99_s) = (Some(TypedLevels::Text("poisson")), Some(50e-6));
        let typed =
            TypedPacing { arrivals, knee: Some(TypedKnee { p99_s }), ..TypedPacing::default() };
        let parsed = typed.parse();
        assert!(parsed.contradictions(&[WorkloadKind::Paced], None).is_empty());
        let pacing = parsed.into_requested().unwrap();
        assert_eq!(pacing.workload(WorkloadKind::Paced), WorkloadKind::Stream);
        assert_eq!(pacing.levels(Pacer::Spin), [None]);
        let search = pacing.knee_search().unwrap();
        assert_eq!((search.p99_bound_ns, search.arrivals), (Some(50_000), vec![Arrivals::Poisson]));
        for wrong in [0.0, -1.0, f64::NAN, 61.0] {
            parse_knee(TypedKnee { p99_s: Some(wrong) }).unwrap_err();
        }
    }

    #[test]
    fn durations_are_limited() {
        assert_eq!(parse_duration(0.5), Ok(Duration::from_millis(500)));
        for wrong in [0.0, -1.0, f64::NAN, 3_601.0] {
            parse_duration(wrong).unwrap_err();
        }
    }
}
