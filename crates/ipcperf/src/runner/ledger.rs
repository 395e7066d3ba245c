//! State of each case so far, both from this command and from the file that is resumed.

use std::collections::{BTreeMap, HashMap};

use ipcperf_model::WarmUp;
use ipcperf_results::analysis::main_figure;
use ipcperf_results::{ExclusionReason, FailedRun, RunIdentity, Sample};
use ipcperf_stats::warm_up;

use ipcperf_plan::Case;

/// Number of slices that the first run of a case is divided into, to find its warm-up time.
const SLICES: u32 = 24;

/// State that decides whether a run is due.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    cases: HashMap<String, CaseLedger>,
}

#[derive(Debug, Default)]
struct CaseLedger {
    /// Number and status of the last attempt in each block.
    blocks: HashMap<u32, (u32, RunStatus)>,
    /// Main figures of valid samples, by class of CPU pair.
    figures: BTreeMap<Option<String>, Vec<f64>>,
    warm_up_ns: u64,
}

/// Which of the runs that failed before are retried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Retry {
    /// Runs that failed for lack of a resource that may be available again.
    #[default]
    Transient,
    /// All failed runs.
    All,
}

impl Retry {
    /// Returns the status of a run that failed with `failure`.
    const fn status_of(self, failure: &FailedRun) -> RunStatus {
        match self {
            Self::All => RunStatus::Due,
            Self::Transient => RunStatus::after(failure),
        }
    }
}

/// Status after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunStatus {
    /// Complete: the sample is valid or from the first block, or the run failed for good.
    Complete,
    /// Excluded as disturbed.
    Disturbed,
    /// Failed, to be retried.
    Due,
}

impl RunStatus {
    /// Returns the status after `failure`.
    pub(super) const fn after(failure: &FailedRun) -> Self {
        if failure.transient { Self::Due } else { Self::Complete }
    }
}

impl Ledger {
    /// Restores the state from the `samples` and `failures` of a results file.
    pub(super) fn new(samples: &[Sample], failures: &[FailedRun], retry: Retry) -> Self {
        let mut ledger = Self::default();
        for sample in samples {
            ledger.add_sample(sample);
        }
        for failure in failures {
            ledger.record_status(&failure.run, retry.status_of(failure));
        }
        ledger
    }

    /// Adds a sample.
    pub(super) fn add_sample(&mut self, sample: &Sample) {
        let is_disturbed = sample.excluded.is_some_and(ExclusionReason::is_disturbance);
        let standing = if is_disturbed { RunStatus::Disturbed } else { RunStatus::Complete };
        self.record_status(&sample.run, standing);
        let case = self.cases.entry(sample.run.case.case_id.clone()).or_default();
        if let Some(slices_ns) = &sample.warm_up_slices_ns {
            case.warm_up_ns = needed_warm_up_ns(slices_ns);
        }
        if let (None, Some(figure)) = (sample.excluded, main_figure(sample)) {
            case.figures.entry(sample.cpu_pair_class.clone()).or_default().push(figure);
        }
    }

    /// Records the status `standing` of another attempt.
    pub(super) fn record_status(&mut self, run: &RunIdentity, standing: RunStatus) {
        let case = self.cases.entry(run.case.case_id.clone()).or_default();
        let last = case.blocks.entry(run.block).or_insert((0, standing));
        if run.attempt > last.0 {
            *last = (run.attempt, standing);
        }
    }

    /// Returns the number and status of the last attempt at `case` in `block`; `None` if there was none.
    pub(super) fn last_attempt(&self, case: &Case, block: u32) -> Option<(u32, RunStatus)> {
        self.cases.get(&case.id)?.blocks.get(&block).copied()
    }

    /// Returns the valid figures of `case`, from the class of CPU pair with the most figures.
    pub(super) fn figures(&self, case: &Case) -> &[f64] {
        let of_case = self.cases.get(&case.id).map(|known| &known.figures);
        let classes = of_case.into_iter().flat_map(BTreeMap::values);
        classes.max_by_key(|figures| figures.len()).map_or(&[], Vec::as_slice)
    }

    /// Returns the warm-up for a run of `case` in `block`: the first run finds out how long it must be, the later ones
    /// use that time.
    pub(super) fn warm_up(&self, case: &Case, block: u32) -> WarmUp {
        match self.cases.get(&case.id).map_or(0, |known| known.warm_up_ns) {
            _ if case.spec.total_bytes.is_some() || case.spec.pacing.is_some() => WarmUp::None,
            _ if block == 0 => WarmUp::Slices(SLICES),
            0 => WarmUp::None,
            ns => WarmUp::ForNs(ns),
        }
    }
}

/// Returns the duration of the slices before the steady state. If a run never became steady, half of its slices count
/// as warm-up.
#[allow(clippy::cast_precision_loss, reason = "milliseconds in ns")]
fn needed_warm_up_ns(slices_ns: &[u64]) -> u64 {
    let series: Vec<f64> = slices_ns.iter().map(|&ns| ns as f64).collect();
    let unsteady = warm_up(&series).unwrap_or(slices_ns.len() / 2);
    slices_ns.iter().take(unsteady).sum()
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;
    use ipcperf_model::{Failure, FailureKind};
    use ipcperf_results::testing::sample;

    use super::*;

    fn case(total_bytes: Option<u64>) -> Case {
        let mut case = ipcperf_plan::testing::case("pipe/stream/2proc/same/64");
        case.spec.total_bytes = total_bytes;
        case
    }

    fn attempt(block: u32, attempt: u32, excluded: Option<ExclusionReason>) -> Sample {
        let mut sample = sample("pipe", WorkloadKind::Stream, 64, block, 1_000_000);
        sample.run.attempt = attempt;
        sample.excluded = excluded;
        sample
    }

    #[test]
    fn the_last_attempt_says_what_is_left_to_do() {
        let samples = [
            attempt(1, 2, None),
            attempt(1, 1, Some(ExclusionReason::Disturbed)),
            attempt(2, 1, Some(ExclusionReason::Disturbed)),
        ];
        let ledger = Ledger::new(&samples, &[], Retry::All);
        let last = |block| ledger.last_attempt(&case(None), block);
        assert_eq!(last(1), Some((2, RunStatus::Complete)));
        assert_eq!(last(2), Some((1, RunStatus::Disturbed)));
        assert_eq!(last(3), None);
        assert_eq!(ledger.figures(&case(None)).len(), 1, "disturbed figures do not count");
    }

    fn failed(block: u32, attempt: u32, transient: bool) -> FailedRun {
        let failure = Failure::new(FailureKind::Worker, "starting a worker");
        let run = RunIdentity { attempt, ..sample("pipe", WorkloadKind::Stream, 64, block, 1).run };
        FailedRun { transient, ..FailedRun::new(run, failure) }
    }

    #[test]
    fn what_failed_is_due_where_it_may_go_well_now_or_where_that_is_asked_for() {
        let samples = [attempt(3, 2, None)];
        let failures = [failed(1, 1, false), failed(2, 4, true), failed(3, 1, true)];
        let last =
            |retry, block| Ledger::new(&samples, &failures, retry).last_attempt(&case(None), block);
        assert_eq!(last(Retry::Transient, 1), Some((1, RunStatus::Complete)));
        assert_eq!(last(Retry::Transient, 2), Some((4, RunStatus::Due)));
        assert_eq!(last(Retry::All, 1), Some((1, RunStatus::Due)));
        for retry in [Retry::Transient, Retry::All] {
            assert_eq!(last(retry, 3), Some((2, RunStatus::Complete)), "a later attempt went well");
        }
    }

    #[test]
    fn the_class_with_most_figures_speaks_for_the_case() {
        let mut ledger = Ledger::default();
        for (block, class) in (1..).zip(["far", "near", "near"]) {
            let mut sample = attempt(block, 1, None);
            sample.cpu_pair_class = Some(class.to_owned());
            ledger.add_sample(&sample);
        }
        assert_eq!(ledger.figures(&case(None)).len(), 2);
    }

    #[test]
    fn the_first_run_looks_for_the_warm_up_of_the_others() {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.warm_up(&case(None), 0), WarmUp::Slices(SLICES));
        assert_eq!(ledger.warm_up(&case(None), 1), WarmUp::None);
        let mut first = attempt(0, 1, Some(ExclusionReason::First));
        first.warm_up_slices_ns = Some(
            [9_000, 6_000, 4_000].into_iter().chain((0..21).map(|k| 2_000 + k * 7 % 10)).collect(),
        );
        ledger.add_sample(&first);
        assert_eq!(ledger.warm_up(&case(None), 1), WarmUp::ForNs(19_000));
        assert_eq!(
            ledger.warm_up(&case(Some(64)), 1),
            WarmUp::None,
            "a given total is run as it is"
        );
    }
}
