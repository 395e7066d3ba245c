//! The parts of a trace: runs of one case, if not all instruments can observe the same run. Instruments that do not
//! disturb observe every part.

use std::collections::{BTreeSet, HashMap};

use ipcperf_model::instrument::sched::SlowMessagesRow;
use ipcperf_model::instrument::{Intrusive, find, syscalls};
use ipcperf_model::instrument_view::InstrumentView;
use ipcperf_model::observation::Observation;
use ipcperf_results::analysis::{TracedRun, traced_runs};
use ipcperf_results::{ObservationRecord, Results, Sample};

use super::{InstrumentViews, is_summarized};

/// Parts of a trace.
pub(super) struct TracedParts<'a> {
    runs: Vec<TracedRun<'a>>,
    /// Index of the first part with observations of each instrument.
    first_parts: HashMap<&'a str, usize>,
}

impl<'a> TracedParts<'a> {
    /// Selects the parts of the trace in `results`.
    pub(super) fn new(results: &'a Results) -> Self {
        let runs = traced_runs(results);
        let mut first_parts = HashMap::new();
        for (part, run) in runs.iter().enumerate() {
            for one in &run.observations {
                first_parts.entry(one.instrument.as_str()).or_insert(part);
            }
        }
        Self { runs, first_parts }
    }

    /// Returns the run that has the observations of the instrument called `name`; `None` if it observed nothing.
    pub(super) fn run_of(&self, name: &str) -> Option<&'a Sample> {
        self.first_parts.get(name).map(|part| self.runs[*part].sample)
    }

    /// Returns the run that the screen names: that of the system calls, or the first; `None` if no run was traced.
    pub(super) fn main_run(&self) -> Option<&'a Sample> {
        let first = || self.runs.first().map(|run| run.sample);
        self.run_of(syscalls::FACTS.name).or_else(first)
    }

    /// Whether the instrument called `name` observed a run, even if there was nothing to see.
    pub(super) fn has_instrument(&self, name: &str) -> bool {
        self.runs.iter().any(|run| has_instrument(run, name))
    }

    /// Returns the observations of each instrument in the first part that has them.
    pub(super) fn observations(&self) -> Vec<Observation> {
        let of_part = |(part, run): (usize, &TracedRun<'a>)| {
            let is_first =
                move |one: &&&ObservationRecord| self.first_parts[one.instrument.as_str()] == part;
            let records = run.observations.iter().filter(is_first);
            records.map(|one| one.to_observation()).collect::<Vec<_>>()
        };
        self.runs.iter().enumerate().flat_map(of_part).collect()
    }

    /// Returns the presentation of each instrument: in all parts of an instrument that disturbs, because it observes
    /// other events in each, and in the first part of any other.
    pub(super) fn views(&self) -> Vec<InstrumentViews> {
        let of_part = |(part, run): (usize, &TracedRun<'a>)| {
            let earlier = &self.runs[..part];
            let is_new = |name: &&String| {
                is_intrusive(name) || !earlier.iter().any(|run| has_instrument(run, name))
            };
            let instruments = run.sample.instruments.iter().filter(is_new);
            instruments.map(|name| instrument_views(run, name)).collect::<Vec<_>>()
        };
        self.runs.iter().enumerate().flat_map(of_part).collect()
    }

    /// Names the instruments of `results` that observed nothing because the run of their part failed; `None` if all
    /// observed something.
    pub(super) fn describe_missing(&self, results: &Results) -> Option<String> {
        let failed = results.failures.iter().filter_map(|failure| failure.run.case.name.as_deref());
        let failed = failed.filter(|name| name.is_instrumented());
        let names = failed.flat_map(|name| &name.parts.instruments).map(|one| &*one.instrument);
        let names: BTreeSet<&str> = names.filter(|name| !self.has_instrument(name)).collect();
        let words = || names.iter().copied().collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then(|| format!("Not observed, because the run failed: {}", words()))
    }
}

fn has_instrument(run: &TracedRun<'_>, name: &str) -> bool {
    run.sample.instruments.iter().any(|one| one == name)
}

fn is_intrusive(name: &str) -> bool {
    find(name).is_some_and(|known| known.intrusive == Intrusive::Yes)
}

/// Returns the presentation of what the instrument called `name` observed in `run`.
fn instrument_views(run: &TracedRun<'_>, name: &str) -> InstrumentViews {
    let by_it = run.observations.iter().filter(|one| one.instrument == name);
    // The slowest messages are shown in full.
    let is_hidden = |one: &Observation| one.row::<SlowMessagesRow>().is_none();
    let observed: Vec<Observation> =
        by_it.map(|one| one.to_observation()).filter(is_hidden).collect();
    let views: Vec<InstrumentView> =
        find(name).map_or_else(Vec::new, |known| (known.views)(&observed));
    let is_summarized = observed.iter().any(is_summarized);
    InstrumentViews { instrument: name.to_owned(), views, is_summarized }
}
