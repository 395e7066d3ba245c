//! Drift: values of a case that rise or fall from the first block to the last.

use ipcperf_stats::{Steadiness, steadiness};
use serde::Serialize;

use super::Cells;
use crate::{Metric, Selection};

/// A case whose values drift.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drift {
    /// Id of the case.
    pub case_id: String,
    /// Change from the first block to the last, as a share of the median: 0.05 is a rise by 5 %.
    pub change: f64,
    /// Probability of such a trend by chance.
    pub p: f64,
}

impl Drift {
    /// Describes the drift.
    pub(super) fn description(&self) -> String {
        format!("{} ({:+.1} %)", self.case_id, 100.0 * self.change)
    }
}

impl Cells<'_> {
    /// Returns the cases in `selections` whose values of `metric` drift.
    pub(super) fn drifting(&self, selections: &[Selection], metric: &Metric) -> Vec<Drift> {
        let mut drifting: Vec<Drift> = Vec::new();
        for cell in selections.iter().flat_map(|selection| self.select(selection)) {
            let Some(example) = cell.example() else { continue };
            let case_id = &example.run.case.case_id;
            let series: Vec<f64> = cell.values(metric).into_values().collect();
            let is_listed = drifting.iter().any(|one| one.case_id == *case_id);
            if let (false, Some(Steadiness::Drifting { change, p_value })) =
                (is_listed, steadiness(&series))
            {
                drifting.push(Drift { case_id: case_id.clone(), change, p: p_value });
            }
        }
        drifting
    }
}
