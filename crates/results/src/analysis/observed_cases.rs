//! Selects the observations of instruments to show: those of one representative run for each case.

use ipcperf_model::instrument::find;
use ipcperf_model::instrument::profile::flame_graph;
use ipcperf_model::instrument_view::InstrumentView;
use ipcperf_model::observation::Observation;

use super::ns_per_message;
use crate::{Results, Sample};

/// Observations of one instrument for one case.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedCase {
    /// Name of the case.
    pub case_id: String,
    /// Name of the representative run: the one with the median time of a message.
    pub run_id: String,
    /// Name of the instrument.
    pub instrument: String,
    /// Presentation of the observations.
    pub views: Vec<InstrumentView>,
    /// Flame graph of the stacks in SVG, if there are any.
    pub flame: Option<String>,
}

/// Returns the observations of each instrumented case of `results`, in the order of the plan. An instrument that is
/// unknown to this version has no pictures.
pub fn observed_cases(results: &Results) -> Vec<ObservedCase> {
    observed_cases_where(results, |_| true)
}

/// Returns the observations like [`observed_cases`], but only of cases whose representative run satisfies `is_meant`.
pub fn observed_cases_where(
    results: &Results,
    is_meant: impl Fn(&Sample) -> bool,
) -> Vec<ObservedCase> {
    let cases = &results.header.plan.cases;
    let spokesmen = cases.iter().filter_map(|case| representative_run(case, &results.samples));
    spokesmen.filter(|run| is_meant(run)).flat_map(|run| observe_run(run, results)).collect()
}

/// Returns the representative run of `case`: the median of the valid instrumented runs or, if none is valid, of all
/// of them.
fn representative_run<'a>(case: &str, samples: &'a [Sample]) -> Option<&'a Sample> {
    let is_watched = |sample: &Sample| sample.twin_of.is_none() && !sample.instruments.is_empty();
    let of_case = |sample: &&Sample| sample.run.case.case_id == case && is_watched(sample);
    let all: Vec<&Sample> = samples.iter().filter(of_case).collect();
    let counting: Vec<&Sample> =
        all.iter().copied().filter(|sample| sample.excluded.is_none()).collect();
    let mut runs = if counting.is_empty() { all } else { counting };
    let time = |sample: &Sample| ns_per_message(sample).unwrap_or(f64::INFINITY);
    runs.sort_by(|one, other| time(one).total_cmp(&time(other)));
    runs.get(runs.len().saturating_sub(1) / 2).copied()
}

fn observe_run(run: &Sample, results: &Results) -> Vec<ObservedCase> {
    let by = |instrument: &String| {
        let observations: Vec<Observation> = results
            .observations
            .iter()
            .filter(|one| one.run_id == run.run.run_id && one.instrument == *instrument)
            .map(crate::ObservationRecord::to_observation)
            .collect();
        ObservedCase {
            case_id: run.run.case.case_id.clone(),
            run_id: run.run.run_id.clone(),
            instrument: instrument.clone(),
            flame: flame_graph(&observations),
            views: find(instrument).map_or_else(Vec::new, |known| (known.views)(&observations)),
        }
    };
    run.instruments.iter().map(by).collect()
}
