//! Selects the observations of instruments to show: those of one representative run for each case.

use ipcperf_model::instrument::find;
use ipcperf_model::instrument::profile::flame;
use ipcperf_model::instrument_view::Picture;
use ipcperf_model::observation::Observation;

use super::ns_per_message;
use crate::{Results, Sample};

/// Observations of one instrument for one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// Name of the case.
    pub case_id: String,
    /// Name of the representative run: the one with the median time of a message.
    pub run_id: String,
    /// Name of the instrument.
    pub instrument: String,
    /// Presentation of the observations.
    pub pictures: Vec<Picture>,
    /// Flame graph of the stacks in SVG, if there are any.
    pub flame: Option<String>,
}

/// Returns the observations of each instrumented case of `results`, in the order of the plan. An instrument that is
/// unknown to this version has no pictures.
pub fn observed(results: &Results) -> Vec<Observed> {
    observed_of(results, |_| true)
}

/// Returns the observations like [`observed`], but only of cases whose representative run satisfies `is_meant`.
pub fn observed_of(results: &Results, is_meant: impl Fn(&Sample) -> bool) -> Vec<Observed> {
    let cases = &results.header.plan.cases;
    let spokesmen = cases.iter().filter_map(|case| spokesman(case, &results.samples));
    spokesmen.filter(|run| is_meant(run)).flat_map(|run| seen(run, results)).collect()
}

/// Returns the representative run of `case`: the median of the valid instrumented runs or, if none is valid, of all
/// of them.
fn spokesman<'a>(case: &str, samples: &'a [Sample]) -> Option<&'a Sample> {
    let is_watched = |sample: &Sample| sample.twin_of.is_none() && !sample.instruments.is_empty();
    let of_case = |sample: &&Sample| sample.run.case.case_id == case && is_watched(sample);
    let all: Vec<&Sample> = samples.iter().filter(of_case).collect();
    let counting: Vec<&Sample> =
        all.iter().copied().filter(|sample| sample.set_aside.is_none()).collect();
    let mut runs = if counting.is_empty() { all } else { counting };
    let time = |sample: &Sample| ns_per_message(sample).unwrap_or(f64::INFINITY);
    runs.sort_by(|one, other| time(one).total_cmp(&time(other)));
    runs.get(runs.len().saturating_sub(1) / 2).copied()
}

fn seen(run: &Sample, results: &Results) -> Vec<Observed> {
    let by = |instrument: &String| {
        let told: Vec<Observation> = results
            .observations
            .iter()
            .filter(|one| one.run_id == run.run.run_id && one.instrument == *instrument)
            .map(crate::ObservationRecord::told)
            .collect();
        Observed {
            case_id: run.run.case.case_id.clone(),
            run_id: run.run.run_id.clone(),
            instrument: instrument.clone(),
            flame: flame(&told),
            pictures: find(instrument).map_or_else(Vec::new, |known| (known.pictures)(&told)),
        }
    };
    run.instruments.iter().map(by).collect()
}
