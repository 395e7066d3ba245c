//! Execution of a plan: block by block, with a fresh worker process for each run.
//!
//! ```text
//! Plan, Ledger -> is it due? -> SingleRunner -> process -> NoiseDetector -> Sample -> results file, Ledger
//! ```

mod cpu_distance;
mod default_path;
mod instruments;
mod interrupt;
mod knee;
mod ledger;
mod noise_detection;
mod plan_record;
mod precision;
mod process;
mod serve;
mod single_run;
mod time_budget;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use ipcperf_engine::worker::user_system_split;
use ipcperf_model::pacing::Pacing;
use ipcperf_model::{Failure, FailureKind, Measurement, RunSpec, WarmUp};
use ipcperf_plan::{Case, Plan, block_order, schedule_seed};
use ipcperf_results::analysis::probe_effects;
use ipcperf_results::{
    ExclusionReason, FailedRun, Footer, ObservationRecord, PeerRecord, ResultsLine, RunIdentity,
    Sample, Writer, final_failures,
};

pub(crate) use default_path::default_path;
pub(crate) use instruments::InstrumentObservation;
pub(crate) use ledger::Retry;
pub(crate) use plan_record::{check_custom, plan_record, stored_plan};
pub(crate) use serve::{serve_as_peer, serve_as_worker};
pub(crate) use single_run::{SingleRunner, Stopped};
pub(crate) use time_budget::TimeBudget;

use cpu_distance::CpuDistanceClasses;
use ledger::{Ledger, RunStatus};
use noise_detection::{NoiseDetector, RetryDecision};
use plan_record::identity;
use precision::RepetitionControl;

use crate::error::{Error, ExitStatus};
use crate::printing::Progress;

/// Results of a plan.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) samples: Vec<Sample>,
    pub(crate) peers: Vec<PeerRecord>,
    pub(crate) observations: Vec<ObservationRecord>,
    pub(crate) failures: Vec<FailedRun>,
    /// Number of planned runs, and of disturbed runs to be retried, for which the time budget had no time.
    pub(crate) left_out: usize,
    pub(crate) status: ExitStatus,
}

/// Contents of the results file that is resumed.
#[derive(Debug, Default)]
pub(crate) struct ResumeState {
    pub(crate) samples: Vec<Sample>,
    pub(crate) peers: Vec<PeerRecord>,
    pub(crate) observations: Vec<ObservationRecord>,
    pub(crate) failures: Vec<FailedRun>,
    pub(crate) elapsed_ns: u64,
    pub(crate) retry: Retry,
}

impl Outcome {
    /// Returns the state before anything is run.
    pub(crate) fn from_resume_state(before: ResumeState) -> Self {
        // Transient failures do not count: those runs have been retried or will be.
        let failed = before.failures.iter().any(|failure| !failure.transient);
        let ending = if failed { ExitStatus::SomeFailed } else { ExitStatus::Done };
        let ResumeState { samples, peers, observations, failures, .. } = before;
        Self { samples, peers, observations, failures, left_out: 0, status: ending }
    }

    /// Keeps only failures that no later attempt corrected.
    fn drop_corrected_failures(&mut self) {
        self.failures = final_failures(std::mem::take(&mut self.failures), &self.samples);
        if self.status == ExitStatus::SomeFailed && self.failures.is_empty() {
            self.status = ExitStatus::Done;
        }
    }
}

/// A plan during its execution.
struct Execution<'a> {
    plan: &'a Plan,
    writer: &'a mut Writer,
    progress: &'a mut Progress,
    runner: SingleRunner,
    noise_detector: NoiseDetector,
    cpu_classes: CpuDistanceClasses,
    ledger: Ledger,
    goal: RepetitionControl,
    budget: TimeBudget,
    decided: DecidedCases<'a>,
    outcome: Outcome,
}

/// Function that returns the cases that no undecided hypothesis needs, given the results up to a number of valid
/// repetitions.
pub(crate) type DecidedCases<'a> = &'a dyn Fn(&Outcome, u32) -> HashSet<String>;

/// Next step after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextStep {
    /// Run the same case again.
    Retry,
    /// Continue with the next case.
    Continue,
    /// Stop: a signal asked the command to end.
    Stop,
}

/// Executes the part of `plan` that is not in `before` and appends each result to `writer`, within `budget`. If the plan
/// runs until hypotheses are decided, `decided` returns the cases that need no more runs.
///
/// # Errors
/// Fails if results cannot be written, or if no worker can be monitored at all. Failed runs are stored as results, not
/// returned as errors.
pub(crate) fn run(
    plan: &Plan,
    before: ResumeState,
    budget: TimeBudget,
    writer: &mut Writer,
    progress: &mut Progress,
    decided: DecidedCases<'_>,
) -> Result<Outcome, Error> {
    let (start, before_ns) = (Instant::now(), before.elapsed_ns);
    let alone = SingleRunner::new()?;
    let mut execution = Execution {
        plan,
        writer,
        progress,
        runner: alone,
        noise_detector: NoiseDetector::new(plan, &before.samples),
        cpu_classes: CpuDistanceClasses::from_samples(&before.samples),
        ledger: Ledger::new(&before.samples, &before.failures, before.retry),
        goal: RepetitionControl::new(plan.stopping_rule.clone()),
        budget,
        decided,
        outcome: Outcome::from_resume_state(before),
    };
    let ran = execution.run_blocks();
    execution.close(ran, start, before_ns)
}

impl<'a> Execution<'a> {
    fn run_blocks(&mut self) -> Result<(), Error> {
        for block in 0..self.plan.blocks() {
            if self.run_block(&self.plan.cases, block)? == NextStep::Stop {
                self.outcome.status = ExitStatus::Interrupted;
                return Ok(());
            }
            if self.goal.has_look_after(block) {
                self.goal.excuse((self.decided)(&self.outcome, block));
            }
            let goal = &mut self.goal;
            let due = |case: &Case| goal.check_due(case, block + 1, self.ledger.figures(case));
            if !self.plan.cases.iter().any(due) {
                break;
            }
        }
        if self.budget.defers_retries() && self.retry_disturbed()? == NextStep::Stop {
            self.outcome.status = ExitStatus::Interrupted;
            return Ok(());
        }
        if let Some(search) = &self.plan.knee
            && self.find_knees(search)? == NextStep::Stop
        {
            self.outcome.status = ExitStatus::Interrupted;
        }
        Ok(())
    }

    /// Retries disturbed runs after the last block. Each round makes one attempt at every run whose last attempt was
    /// disturbed. There are `attempts - 1` rounds, but no retry starts once the time budget is used up.
    fn retry_disturbed(&mut self) -> Result<NextStep, Error> {
        for _ in 1..self.plan.attempts {
            self.noise_detector.begin_block();
            let disturbed = self.disturbed_runs();
            for (done, &(block, position, case)) in disturbed.iter().enumerate() {
                if self.budget.is_used_up() {
                    self.outcome.left_out += disturbed.len() - done;
                    return Ok(NextStep::Continue);
                }
                if self.run_repetition(case, block, position)? == NextStep::Stop {
                    return Ok(NextStep::Stop);
                }
            }
        }
        Ok(NextStep::Continue)
    }

    /// Returns block, position and case of each run that is disturbed so far; cases with the fewest valid runs first,
    /// because the time may not suffice for all.
    fn disturbed_runs(&self) -> Vec<(u32, usize, &'a Case)> {
        let plan = self.plan;
        let runs = (1..plan.blocks()).flat_map(|block| {
            let order = block_order(plan.cases.len(), plan.seed, block).into_iter().enumerate();
            order.map(move |(position, case)| (block, position, &plan.cases[case]))
        });
        let mut disturbed: Vec<_> = runs
            .filter(|&(block, _, case)| {
                let last = self.ledger.last_attempt(case, block);
                matches!(last, Some((_, RunStatus::Disturbed)))
            })
            .collect();
        disturbed.sort_by_key(|&(_, _, case)| self.ledger.figures(case).len());
        disturbed
    }

    fn run_block(&mut self, cases: &[Case], block: u32) -> Result<NextStep, Error> {
        self.noise_detector.begin_block();
        let order = block_order(cases.len(), self.plan.seed, block);
        for (position, case) in order.into_iter().enumerate() {
            let case = &cases[case];
            if !self.goal.check_due(case, block, self.ledger.figures(case)) {
                continue;
            }
            if self.budget.is_used_up() {
                self.outcome.left_out +=
                    usize::from(self.ledger.last_attempt(case, block).is_none());
                continue;
            }
            if self.run_repetition(case, block, position)? == NextStep::Stop {
                return Ok(NextStep::Stop);
            }
        }
        Ok(NextStep::Continue)
    }

    /// Executes one repetition: attempts until one is undisturbed or a limit is reached, or one attempt if retries are
    /// deferred.
    fn run_repetition(
        &mut self,
        case: &Case,
        block: u32,
        position: usize,
    ) -> Result<NextStep, Error> {
        let mut attempt = match self.ledger.last_attempt(case, block) {
            None => 1,
            Some((_, RunStatus::Complete)) => return Ok(NextStep::Continue),
            Some((last, RunStatus::Due)) => last + 1,
            // The command was killed before the retry, or gave up. The same decision is made again now.
            Some((last, RunStatus::Disturbed)) => {
                match self.noise_detector.request_retry(Some(ExclusionReason::Disturbed), last) {
                    RetryDecision::Yes => last + 1,
                    RetryDecision::No => return Ok(NextStep::Continue),
                }
            }
        };
        loop {
            let identity = RunIdentity::new(identity(case), block, position, attempt);
            match self.attempt(case, identity, position)? {
                NextStep::Retry => attempt += 1,
                next => return Ok(next),
            }
        }
    }

    fn attempt(
        &mut self,
        case: &Case,
        identity: RunIdentity,
        position: usize,
    ) -> Result<NextStep, Error> {
        self.progress.show(case, self.ledger.figures(case));
        // Detects a full disk before the run, when there is no sample to lose yet.
        self.writer.reserve()?;
        let warm_up = self.ledger.warm_up(case, identity.block);
        let seed = schedule_seed(self.plan.seed, identity.block, position, identity.attempt);
        let pacing = case.spec.pacing.map(|pacing| Pacing { seed, ..pacing });
        let order_seed = case.spec.message_options.sizes.map_or(0, |_| seed);
        let spec = RunSpec { warm_up, pacing, order_seed, ..case.spec.clone() };
        match self.runner.run(&spec, &case.instruments, self.timeout(&spec)) {
            Ok(seen) => self.record_sample(case, identity, warm_up, seen),
            Err(Stopped::Failed(failure)) => self.record_failure(identity, failure),
            Err(Stopped::Interrupted) => Ok(NextStep::Stop),
        }
    }

    /// Returns the timeout of a run. A paced run lasts up to twice its schedule, if it is saturated.
    fn timeout(&self, spec: &RunSpec) -> Duration {
        let schedule_ns = spec.pacing.map_or(0, |pacing| pacing.duration_ns());
        self.plan.timeout.saturating_add(Duration::from_nanos(schedule_ns).saturating_mul(2))
    }

    fn record_sample(
        &mut self,
        case: &Case,
        run: RunIdentity,
        warm_up: WarmUp,
        (measured, told): (Measurement, Vec<InstrumentObservation>),
    ) -> Result<NextStep, Error> {
        let (block, attempt) = (run.block, run.attempt);
        let excluded = self.noise_detector.judge(case, block, &measured);
        let split = user_system_split(&run.case.cpus);
        let peers = measured.peers.clone();
        let mut sample = Sample::new(run, warm_up, measured, split);
        sample.excluded = excluded;
        sample.instruments = case.instruments.names.iter().map(|&name| name.to_owned()).collect();
        sample.twin_of.clone_from(&case.instruments.twin_of);
        // Only two of several peers measure their distance.
        let probe_ns = sample.cacheline_round_trip_ns.filter(|_| case.spec.peers.is_none());
        sample.cpu_pair_class = probe_ns.and_then(|ns| self.cpu_classes.classify(ns, excluded));
        self.ledger.add_sample(&sample);
        let of_run =
            |(instrument, told)| ObservationRecord::new(&sample.run.run_id, instrument, told);
        let observations: Vec<_> = told.into_iter().map(of_run).collect();
        let peers: Vec<_> = peers.iter().map(|peer| PeerRecord::new(&sample.run, peer)).collect();
        let lines = std::iter::once(ResultsLine::Sample(sample.clone()))
            .chain(peers.iter().cloned().map(ResultsLine::Peer))
            .chain(observations.iter().cloned().map(ResultsLine::Observation));
        let lines: Vec<ResultsLine> = lines.collect();
        self.writer.append(lines)?;
        self.outcome.samples.push(sample);
        self.outcome.peers.extend(peers);
        self.outcome.observations.extend(observations);
        if self.budget.defers_retries() {
            return Ok(NextStep::Continue);
        }
        match self.noise_detector.request_retry(excluded, attempt) {
            RetryDecision::Yes => Ok(NextStep::Retry),
            RetryDecision::No => Ok(NextStep::Continue),
        }
    }

    fn record_failure(
        &mut self,
        identity: RunIdentity,
        failure: Failure,
    ) -> Result<NextStep, Error> {
        let failed = FailedRun::new(identity, failure);
        self.ledger.record_status(&failed.run, RunStatus::after(&failed));
        self.writer.append(vec![ResultsLine::Failure(failed.clone())])?;
        self.outcome.failures.push(failed);
        self.outcome.status = ExitStatus::SomeFailed;
        Ok(NextStep::Continue)
    }

    /// Writes the footer, even if `ran` is an error; disk space was reserved for it.
    fn close(
        mut self,
        ran: Result<(), Error>,
        start: Instant,
        before_ns: u64,
    ) -> Result<Outcome, Error> {
        self.progress.clear();
        let took_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.outcome.drop_corrected_failures();
        let is_over = ran.is_ok()
            && self.outcome.status != ExitStatus::Interrupted
            && self.outcome.left_out == 0;
        let tally = self.writer.tally();
        let footer = Footer {
            seq: None,
            complete: is_over && !self.outcome.failures.iter().any(|failed| failed.transient),
            samples: tally.samples,
            observations: Some(tally.observations),
            peers: tally.peers,
            failures: tally.failures,
            lost_lines: tally.lost_lines,
            probe_effects: probe_effects(&self.outcome.samples),
            elapsed_ns: before_ns.saturating_add(took_ns),
            ended: jiff::Timestamp::now().to_string(),
        };
        let closed = self
            .writer
            .append(vec![ResultsLine::Footer(footer)])
            .and_then(|()| self.writer.release());
        ran.and(closed.map_err(Error::from))?;
        Ok(self.outcome)
    }
}

/// Returns a failure of the worker process itself.
fn worker_failure(place: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Worker, place)
}
