//! Search for the knee: which cases can be searched, and the paced runs of a search.

use ipcperf_engine::channel::Mechanism;
use ipcperf_model::RunSpec;
use ipcperf_model::case_id::{Side, case_id};
use ipcperf_model::knee::KneeSearch;
use ipcperf_model::pacing::Pacing;
use ipcperf_model::workload::WorkloadKind;

use super::cell::{self, Case, RefusalCause, RefusedCell};

/// Rate with which the paced runs of a search are checked, messages per second: whether a mechanism can be paced does not
/// depend on it.
const ANY_RATE_PER_S: u64 = 1_000;

impl Case {
    /// Returns the case with the same settings whose messages follow `pacing`.
    #[must_use]
    pub fn paced(&self, pacing: Pacing) -> Self {
        let workload = match self.spec.workload {
            WorkloadKind::Stream => WorkloadKind::Paced,
            other => other,
        };
        let spec =
            RunSpec { workload, pacing: Some(pacing), total_bytes: None, ..self.spec.clone() };
        let id = case_id(&spec, self.placement, &self.name, Side::Instrumented);
        Self { id, spec, ..self.clone() }
    }
}

/// Removes the cases whose knee cannot be searched, and returns them with the reason.
pub(super) fn drop_unpaceable(
    cases: &mut Vec<Case>,
    search: &KneeSearch,
    mechanisms: &[Mechanism<'_>],
) -> Vec<RefusedCell> {
    let mut refused = Vec::new();
    cases.retain(|case| match obstacle(case, search, mechanisms) {
        None => true,
        Some(reason) => {
            refused.push(RefusedCell {
                id: case.id.clone(),
                amount: None,
                spec: case.spec.clone(),
                placement: case.placement,
                reason,
                cause: RefusalCause::Limit,
            });
            false
        }
    });
    refused
}

fn obstacle(case: &Case, search: &KneeSearch, mechanisms: &[Mechanism<'_>]) -> Option<String> {
    let name = case.spec.mechanism.to_string();
    if case.is_harness_only() {
        return Some(format!("{name} transfers nothing, so it carries every rate; leave it out"));
    }
    let mechanism = mechanisms.iter().find(|mechanism| mechanism.name == name)?;
    search.schedules(case.spec.mode, case.placement).into_iter().find_map(|schedule| {
        let paced = case.paced(search.pacing(schedule, ANY_RATE_PER_S)).spec;
        cell::refused_by_pacer(&paced, case.placement).or_else(|| cell::refusal(mechanism, &paced))
    })
}
