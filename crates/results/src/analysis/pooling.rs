//! Instruments whose observations of several runs can be pooled into those of one.

use ipcperf_model::instrument::{InstrumentFacts, profile};
use ipcperf_model::observation::Observation;

use super::pooled_profile;

/// Pools the observations of several runs of a case, one item for each run.
pub(super) type PoolRuns = fn(&[Vec<Observation>]) -> Vec<Observation>;

/// Instruments whose observations can be pooled, with the function that does it. For any other instrument, the report
/// shows the observations of one representative run.
const POOLED: &[(&InstrumentFacts, PoolRuns)] = &[(&profile::FACTS, pooled_profile::pool)];

/// Returns the function that pools the observations of the instrument called `name`; `None` if they cannot be pooled.
pub(super) fn find(name: &str) -> Option<PoolRuns> {
    POOLED.iter().find(|(facts, _)| facts.name == name).map(|(_, pool)| *pool)
}
