//! Search for the knee of each case, after the unpaced runs.

use ipcperf_model::knee::KneeSearch;
use ipcperf_plan::Case;
use ipcperf_results::analysis::{KNEE_MIN_RUNS, KneeProgress};

use super::plan_record::identity;
use super::{Execution, NextStep};
use crate::error::Error;

/// Number of repetitions of each rate between two looks at the results.
const REPETITIONS: u32 = KNEE_MIN_RUNS;

impl Execution<'_> {
    /// Runs each case at the rates that its search asks for, until every search has ended.
    pub(super) fn find_knees(&mut self, search: &KneeSearch) -> Result<NextStep, Error> {
        loop {
            let cases = self.undecided_cases(search);
            if cases.is_empty() || self.budget.is_used_up() {
                return Ok(NextStep::Continue);
            }
            self.noise_detector.allow_retries(cases.len(), REPETITIONS);
            self.progress.add_runs(cases.len() as u64 * u64::from(REPETITIONS));
            let first = self.next_block();
            for block in first..first + REPETITIONS {
                if self.run_block(&cases, block)? == NextStep::Stop {
                    return Ok(NextStep::Stop);
                }
            }
        }
    }

    /// Returns the next paced case of every search that has not ended.
    fn undecided_cases(&self, search: &KneeSearch) -> Vec<Case> {
        let (samples, failures) = (&self.outcome.samples, &self.outcome.failures);
        let mut next = Vec::new();
        for case in &self.plan.cases {
            let base = identity(case);
            for schedule in search.schedules(case.spec.mode, case.placement) {
                let progress = KneeProgress::new(search, &base, schedule, samples, failures);
                let rate_per_s = progress.next_rate();
                next.extend(rate_per_s.map(|rate| case.paced(search.pacing(schedule, rate))));
            }
        }
        next
    }

    /// Returns the number of the first block without a run.
    fn next_block(&self) -> u32 {
        let samples = self.outcome.samples.iter().map(|sample| &sample.run);
        let failures = self.outcome.failures.iter().map(|failure| &failure.run);
        let last = samples.chain(failures).map(|run| run.block).max().unwrap_or(0);
        self.plan.blocks().max(last.saturating_add(1))
    }
}
