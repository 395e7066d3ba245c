//! State of each case so far, both from this command and from the file that is resumed.

use std::collections::{BTreeMap, HashMap};

use ipcperf_model::WarmUp;
use ipcperf_results::analysis::main_figure;
use ipcperf_results::{FailedRun, RunIdentity, Sample, SetAside};
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
    blocks: HashMap<u32, (u32, Standing)>,
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
    const fn standing(self, failure: &FailedRun) -> Standing {
        match self {
            Self::All => Standing::Due,
            Self::Transient => Standing::after(failure),
        }
    }
}

/// Status after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Complete: the sample is valid or from the first block, or the run failed for good.
    Settled,
    /// Excluded as disturbed.
    Disturbed,
    /// Failed, to be retried.
    Due,
}

impl Standing {
    /// Returns the status after `failure`.
    pub(super) const fn after(failure: &FailedRun) -> Self {
        if failure.transient { Self::Due } else { Self::Settled }
    }
}

impl Ledger {
    /// Restores the state from the `samples` and `failures` of a results file.
    pub(super) fn of(samples: &[Sample], failures: &[FailedRun], retry: Retry) -> Self {
        let mut ledger = Self::default();
        for sample in samples {
            ledger.take(sample);
        }
        for failure in failures {
            ledger.settle(&failure.run, retry.standing(failure));
        }
        ledger
    }

    /// Adds a sample.
    pub(super) fn take(&mut self, sample: &Sample) {
        let is_disturbed = sample.set_aside.is_some_and(SetAside::is_disturbance);
        let standing = if is_disturbed { Standing::Disturbed } else { Standing::Settled };
        self.settle(&sample.run, standing);
        let case = self.cases.entry(sample.run.case.case_id.clone()).or_default();
        if let Some(slices_ns) = &sample.warm_up_slices_ns {
            case.warm_up_ns = needed_warm_up_ns(slices_ns);
        }
        if let (None, Some(figure)) = (sample.set_aside, main_figure(sample)) {
            case.figures.entry(sample.cpu_pair_class.clone()).or_default().push(figure);
        }
    }

    /// Records the status `standing` of another attempt.
    pub(super) fn settle(&mut self, run: &RunIdentity, standing: Standing) {
        let case = self.cases.entry(run.case.case_id.clone()).or_default();
        let last = case.blocks.entry(run.block).or_insert((0, standing));
        if run.attempt > last.0 {
            *last = (run.attempt, standing);
        }
    }

    /// Returns the number and status of the last attempt at `case` in `block`; `None` if there was none.
    pub(super) fn last_attempt(&self, case: &Case, block: u32) -> Option<(u32, Standing)> {
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
            _ if case.spec.total_bytes.is_some() => WarmUp::None,
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
    use ipcperf_model::workload::Kind;
    use ipcperf_model::{Failure, FailureKind};
    use ipcperf_results::testing::sample;

    use super::*;

    fn case(total_bytes: Option<u64>) -> Case {
        let mut case = ipcperf_plan::testing::case("pipe/stream/2proc/same/64");
        case.spec.total_bytes = total_bytes;
        case
    }

    fn attempt(block: u32, attempt: u32, set_aside: Option<SetAside>) -> Sample {
        let mut sample = sample("pipe", Kind::Stream, 64, block, 1_000_000);
        sample.run.attempt = attempt;
        sample.set_aside = set_aside;
        sample
    }

    #[test]
    fn the_last_attempt_says_what_is_left_to_do() {
        let samples = [
            attempt(1, 2, None),
            attempt(1, 1, Some(SetAside::Disturbed)),
            attempt(2, 1, Some(SetAside::Disturbed)),
        ];
        let ledger = Ledger::of(&samples, &[], Retry::All);
        let last = |block| ledger.last_attempt(&case(None), block);
        assert_eq!(last(1), Some((2, Standing::Settled)));
        assert_eq!(last(2), Some((1, Standing::Disturbed)));
        assert_eq!(last(3), None);
        assert_eq!(ledger.figures(&case(None)).len(), 1, "disturbed figures do not count");
    }

    fn failed(block: u32, attempt: u32, transient: bool) -> FailedRun {
        let failure = Failure::new(FailureKind::Worker, "starting a worker");
        let run = RunIdentity { attempt, ..sample("pipe", Kind::Stream, 64, block, 1).run };
        FailedRun { transient, ..FailedRun::of(run, failure) }
    }

    #[test]
    fn what_failed_is_due_where_it_may_go_well_now_or_where_that_is_asked_for() {
        let samples = [attempt(3, 2, None)];
        let failures = [failed(1, 1, false), failed(2, 4, true), failed(3, 1, true)];
        let last =
            |retry, block| Ledger::of(&samples, &failures, retry).last_attempt(&case(None), block);
        assert_eq!(last(Retry::Transient, 1), Some((1, Standing::Settled)));
        assert_eq!(last(Retry::Transient, 2), Some((4, Standing::Due)));
        assert_eq!(last(Retry::All, 1), Some((1, Standing::Due)));
        for retry in [Retry::Transient, Retry::All] {
            assert_eq!(last(retry, 3), Some((2, Standing::Settled)), "a later attempt went well");
        }
    }

    #[test]
    fn the_class_with_most_figures_speaks_for_the_case() {
        let mut ledger = Ledger::default();
        for (block, class) in (1..).zip(["far", "near", "near"]) {
            let mut sample = attempt(block, 1, None);
            sample.cpu_pair_class = Some(class.to_owned());
            ledger.take(&sample);
        }
        assert_eq!(ledger.figures(&case(None)).len(), 2);
    }

    #[test]
    fn the_first_run_looks_for_the_warm_up_of_the_others() {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.warm_up(&case(None), 0), WarmUp::Slices(SLICES));
        assert_eq!(ledger.warm_up(&case(None), 1), WarmUp::None);
        let mut first = attempt(0, 1, Some(SetAside::First));
        first.warm_up_slices_ns = Some(
            [9_000, 6_000, 4_000].into_iter().chain((0..21).map(|k| 2_000 + k * 7 % 10)).collect(),
        );
        ledger.take(&first);
        assert_eq!(ledger.warm_up(&case(None), 1), WarmUp::ForNs(19_000));
        assert_eq!(
            ledger.warm_up(&case(Some(64)), 1),
            WarmUp::None,
            "a given total is run as it is"
        );
    }
}
