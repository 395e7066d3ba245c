//! Selects the observations of instruments to show: for each case, those of one representative run, or of all valid
//! runs if the instrument's data can be pooled.

use std::collections::HashMap;

use ipcperf_model::instrument::profile::flame_graph;
use ipcperf_model::instrument::{InstrumentFacts, find};
use ipcperf_model::instrument_view::InstrumentView;
use ipcperf_model::observation::Observation;

use super::sampling::ProfileSampling;
use super::{ns_per_message, pooling};
use crate::{ObservationRecord, Results, Sample};

/// Observations of one instrument for one case.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedCase {
    /// Name of the case.
    pub case_id: String,
    /// Name that the case would have without instruments.
    pub cell: String,
    /// Name of the representative run: the one with the median time per message.
    pub run_id: String,
    /// Number of runs whose observations are presented: 1 for the representative run, more if they are pooled.
    pub runs: usize,
    /// Name of the instrument.
    pub instrument: String,
    /// Presentation of the observations.
    pub views: Vec<InstrumentView>,
    /// Samples that shares of functions rest on; `None` for an instrument that takes none.
    pub sampling: Option<ProfileSampling>,
    /// Flame graph of the stacks in SVG, if there are any.
    pub flame: Option<String>,
}

/// Instrumented runs by the name of their case.
type InstrumentedRuns<'a> = HashMap<&'a str, Vec<&'a Sample>>;

/// Observations by the name of their run.
type ObservationsByRun<'a> = HashMap<&'a str, Vec<&'a ObservationRecord>>;

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
    let mut by_run = ObservationsByRun::new();
    for one in &results.observations {
        by_run.entry(&one.run_id).or_default().push(one);
    }
    let mut runs = InstrumentedRuns::new();
    for sample in results.samples.iter().filter(|sample| is_instrumented_run(sample)) {
        runs.entry(&sample.run.case.case_id).or_default().push(sample);
    }
    let cases = results.header.plan.cases.iter();
    let kept = cases.filter_map(|case| kept_runs(runs.remove(case.as_str())?));
    let meant = kept.filter(|(representative, _)| is_meant(representative));
    let timeout_s = results.header.plan.timeout_s;
    meant.flat_map(|(run, kept)| observe_runs(run, &kept, &by_run, timeout_s)).collect()
}

/// Whether `sample` was observed by instruments, and is not the twin of a run that was.
pub(super) fn is_instrumented_run(sample: &Sample) -> bool {
    sample.twin_of.is_none() && !sample.instruments.is_empty()
}

/// Returns the representative run of a case, of which `all` are the instrumented runs, and the runs that can be pooled,
/// which include it.
///
/// The candidates are the valid runs. Without a valid run, they are all runs. The representative run is the candidate
/// with the median time per message. The runs that can be pooled are the candidates in its CPU distance class.
fn kept_runs(all: Vec<&Sample>) -> Option<(&Sample, Vec<&Sample>)> {
    let counting: Vec<&Sample> =
        all.iter().copied().filter(|sample| sample.excluded.is_none()).collect();
    let mut runs = if counting.is_empty() { all } else { counting };
    let time = |sample: &Sample| ns_per_message(sample).unwrap_or(f64::INFINITY);
    runs.sort_by(|one, other| time(one).total_cmp(&time(other)));
    let representative = *runs.get(runs.len().saturating_sub(1) / 2)?;
    runs.retain(|run| run.cpu_pair_class == representative.cpu_pair_class);
    Some((representative, runs))
}

/// Returns what each instrument of `run`, the representative run, observed: in all `kept` runs if its observations can
/// be pooled, otherwise in `run`. `timeout_s` is the timeout of these runs.
fn observe_runs(
    run: &Sample,
    kept: &[&Sample],
    by_run: &ObservationsByRun<'_>,
    timeout_s: f64,
) -> Vec<ObservedCase> {
    let observe = |instrument: &String| {
        let known = find(instrument);
        let single = [run];
        let pool = pooling::find(instrument).filter(|_| kept.len() > 1);
        let runs: &[&Sample] = if pool.is_some() { kept } else { &single };
        let mut observed: Vec<Vec<Observation>> =
            runs.iter().map(|run| observations(run, instrument, by_run)).collect();
        let observations = match pool {
            Some(pool) => pool(&observed),
            None => observed.pop().unwrap_or_default(),
        };
        let sampling = ProfileSampling::from_observations(&observations, runs, timeout_s);
        ObservedCase {
            case_id: run.run.case.case_id.clone(),
            cell: run.run.case.cell().to_owned(),
            run_id: run.run.run_id.clone(),
            runs: runs.len(),
            instrument: instrument.clone(),
            flame: flame_graph(&observations),
            sampling,
            views: views(known, &observations),
        }
    };
    run.instruments.iter().map(observe).collect()
}

fn views(known: Option<&InstrumentFacts>, observations: &[Observation]) -> Vec<InstrumentView> {
    known.map_or_else(Vec::new, |known| (known.views)(observations))
}

/// Returns what `instrument` observed in `run`.
fn observations(
    run: &Sample,
    instrument: &str,
    by_run: &ObservationsByRun<'_>,
) -> Vec<Observation> {
    let of_run = by_run.get(run.run.run_id.as_str()).map_or(&[][..], Vec::as_slice);
    let by_it = of_run.iter().filter(|one| one.instrument == instrument);
    by_it.map(|one| one.to_observation()).collect()
}

#[cfg(test)]
mod tests {
    use ipcperf_model::instrument::profile::{
        FACTS, KernelSymbols, ProfileRow, ProfileSummary, SampledThreads,
    };
    use ipcperf_model::instrument::rusage;
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::ExclusionReason;
    use crate::analysis::SuggestedRun;
    use crate::testing::{analyzed_file, sample};

    /// Returns the profile of a run with 15 samples.
    fn profile(run_id: &str) -> ObservationRecord {
        let summary = ProfileRow::Summary(ProfileSummary {
            event: "cpu-clock".to_owned(),
            frequency_hz: 1_999,
            sampled: SampledThreads::Cpus,
            samples: 15,
            events: 7_500_000,
            kernel_samples: Some(10),
            overwritten_ns: 0,
            kernel_symbols: Some(KernelSymbols::Read),
            skid_share: None,
            cpu_time_coverage: None,
        });
        let observation = Observation::from_row(Some("sender"), &summary);
        ObservationRecord::new(run_id, FACTS.name, observation)
    }

    /// Returns a file with ten runs, of which the last is disturbed, in two CPU distance classes.
    fn results() -> Results {
        let run = |block: u32| {
            let elapsed_ns = 1_000_000 + u64::from(block);
            let mut run = sample("pipe", WorkloadKind::Stream, 64, block, elapsed_ns);
            run.instruments = [rusage::FACTS.name, FACTS.name].map(str::to_owned).to_vec();
            run.cpu_pair_class = Some(if block == 1 { "far" } else { "near" }.to_owned());
            run.excluded = (block == 10).then_some(ExclusionReason::Disturbed);
            run
        };
        let samples: Vec<Sample> = (1..=10).map(run).collect();
        let mut results = analyzed_file("file", samples, Vec::new()).results;
        let seen = results.samples.iter().map(|run| profile(&run.run.run_id));
        results.observations = seen.collect();
        results
    }

    #[test]
    fn a_profile_is_that_of_all_valid_runs_and_the_rest_that_of_one() {
        let shown = observed_cases(&results());
        let [usage, profile] = &shown[..] else { panic!("{shown:?}") };
        assert_eq!((usage.runs, profile.runs), (1, 8), "one is disturbed, one in another class");
        assert_eq!(usage.sampling, None);
        let sampling = profile.sampling.expect("samples");
        assert_eq!((sampling.samples, sampling.runs), (8 * 15, 8));
        // 120 samples in 8 runs of 64,000 bytes.
        let suggestion = SuggestedRun { total_bytes: 1 << 19, timeout_s: None };
        assert_eq!(sampling.suggestion, Some(suggestion));
        let Some(InstrumentView::Table(samples)) = profile.views.first() else { panic!("a table") };
        assert_eq!(samples.rows[0][3], ipcperf_model::instrument_view::Value::Count(120));
    }

    #[test]
    fn the_representative_run_has_the_median_time() {
        let shown = observed_cases(&results());
        assert_eq!(shown[0].run_id, "5.0.1");
    }
}
