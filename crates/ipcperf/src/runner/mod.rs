//! Execution of a plan: block by block, with a fresh worker process for each run.
//!
//! ```text
//! Plan, Ledger -> is it due? -> alone -> process -> police -> Sample -> results file, Ledger
//! ```

mod alone;
mod classes;
mod default_path;
mod interrupt;
mod ledger;
mod plan_record;
mod police;
mod precision;
mod process;
mod serve;
mod watch;

use std::collections::HashSet;
use std::time::Instant;

use ipcperf_engine::worker::user_system_split;
use ipcperf_model::{Failure, FailureKind, Measurement, RunSpec, WarmUp};
use ipcperf_plan::{Case, Plan, block_order};
use ipcperf_results::analysis::probe_effects;
use ipcperf_results::{
    FailedRun, Footer, Line, ObservationRecord, RunIdentity, Sample, SetAside, Writer, standing,
};

pub(crate) use alone::{Alone, Stopped};
pub(crate) use default_path::default_path;
pub(crate) use ledger::Retry;
pub(crate) use plan_record::{check_custom, plan_record, stored_plan};
pub(crate) use serve::serve_as_worker;
pub(crate) use watch::Told;

use classes::Classes;
use ledger::{Ledger, Standing};
use plan_record::identity;
use police::{Police, Repeat};
use precision::Goal;

use crate::error::{Ending, Error};
use crate::printing::Progress;

/// Results of a plan.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) samples: Vec<Sample>,
    pub(crate) observations: Vec<ObservationRecord>,
    pub(crate) failures: Vec<FailedRun>,
    pub(crate) ending: Ending,
}

/// Contents of the results file that is resumed.
#[derive(Debug, Default)]
pub(crate) struct Before {
    pub(crate) samples: Vec<Sample>,
    pub(crate) observations: Vec<ObservationRecord>,
    pub(crate) failures: Vec<FailedRun>,
    pub(crate) elapsed_ns: u64,
    pub(crate) retry: Retry,
}

impl Outcome {
    /// Returns the state before anything is run.
    pub(crate) fn of(before: Before) -> Self {
        // Transient failures do not count: those runs have been retried or will be.
        let failed = before.failures.iter().any(|failure| !failure.transient);
        let ending = if failed { Ending::SomeFailed } else { Ending::Done };
        let Before { samples, observations, failures, .. } = before;
        Self { samples, observations, failures, ending }
    }

    /// Keeps only failures that no later attempt corrected.
    fn settle(&mut self) {
        self.failures = standing(std::mem::take(&mut self.failures), &self.samples);
        if self.ending == Ending::SomeFailed && self.failures.is_empty() {
            self.ending = Ending::Done;
        }
    }
}

/// A plan during its execution.
struct Campaign<'a> {
    plan: &'a Plan,
    writer: &'a mut Writer,
    progress: &'a mut Progress,
    alone: Alone,
    police: Police,
    classes: Classes,
    ledger: Ledger,
    goal: Goal,
    decided: Decided<'a>,
    outcome: Outcome,
}

/// Function that returns the cases that no undecided hypothesis needs, given the results up to a number of valid
/// repetitions.
pub(crate) type Decided<'a> = &'a dyn Fn(&Outcome, u32) -> HashSet<String>;

/// Next step after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Run the same case again.
    Again,
    /// Continue with the next case.
    Onward,
    /// Stop: a signal asked the command to end.
    Stop,
}

/// Executes the part of `plan` that is not in `before` and appends each result to `writer`. If the plan runs until
/// hypotheses are decided, `decided` returns the cases that need no more runs.
///
/// # Errors
/// Fails if results cannot be written, or if no worker can be monitored at all. Failed runs are stored as results, not
/// returned as errors.
pub(crate) fn run(
    plan: &Plan,
    before: Before,
    writer: &mut Writer,
    progress: &mut Progress,
    decided: Decided<'_>,
) -> Result<Outcome, Error> {
    let (start, before_ns) = (Instant::now(), before.elapsed_ns);
    let alone = Alone::ready()?;
    let mut campaign = Campaign {
        plan,
        writer,
        progress,
        alone,
        police: Police::of(plan, &before.samples),
        classes: Classes::of(&before.samples),
        ledger: Ledger::of(&before.samples, &before.failures, before.retry),
        goal: Goal::of(plan.enough.clone()),
        decided,
        outcome: Outcome::of(before),
    };
    let ran = campaign.blocks();
    campaign.close(ran, start, before_ns)
}

impl Campaign<'_> {
    fn blocks(&mut self) -> Result<(), Error> {
        for block in 0..self.plan.blocks() {
            if self.block(block)? == Next::Stop {
                self.outcome.ending = Ending::Interrupted;
                return Ok(());
            }
            if self.goal.looks_after(block) {
                self.goal.leave((self.decided)(&self.outcome, block));
            }
            let goal = &mut self.goal;
            let due = |case: &Case| goal.wants(case, block + 1, self.ledger.figures(case));
            if !self.plan.cases.iter().any(due) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn block(&mut self, block: u32) -> Result<Next, Error> {
        self.police.begin_block();
        let order = block_order(self.plan.cases.len(), self.plan.seed, block);
        for (position, case) in order.into_iter().enumerate() {
            let case = &self.plan.cases[case];
            if !self.goal.wants(case, block, self.ledger.figures(case)) {
                continue;
            }
            if self.repetition(case, block, position)? == Next::Stop {
                return Ok(Next::Stop);
            }
        }
        Ok(Next::Onward)
    }

    /// Executes one repetition: attempts until one is undisturbed or a limit is reached.
    fn repetition(&mut self, case: &Case, block: u32, position: usize) -> Result<Next, Error> {
        let mut attempt = match self.ledger.last_attempt(case, block) {
            None => 1,
            Some((_, Standing::Settled)) => return Ok(Next::Onward),
            Some((last, Standing::Due)) => last + 1,
            // The command was killed before the retry, or gave up. The same decision is made again now.
            Some((last, Standing::Disturbed)) => {
                match self.police.repeats(Some(SetAside::Disturbed), last) {
                    Repeat::Yes => last + 1,
                    Repeat::No => return Ok(Next::Onward),
                }
            }
        };
        loop {
            let identity = RunIdentity::new(identity(case), block, position, attempt);
            match self.attempt(case, identity)? {
                Next::Again => attempt += 1,
                next => return Ok(next),
            }
        }
    }

    fn attempt(&mut self, case: &Case, identity: RunIdentity) -> Result<Next, Error> {
        self.progress.show(case, self.ledger.figures(case));
        // Detects a full disk before the run, when there is no sample to lose yet.
        self.writer.reserve()?;
        let warm_up = self.ledger.warm_up(case, identity.block);
        let spec = RunSpec { warm_up, ..case.spec.clone() };
        match self.alone.run(&spec, &case.watched, self.plan.deadline) {
            Ok(seen) => self.keep(case, identity, warm_up, seen),
            Err(Stopped::Failed(failure)) => self.note(identity, failure),
            Err(Stopped::Interrupted) => Ok(Next::Stop),
        }
    }

    fn keep(
        &mut self,
        case: &Case,
        run: RunIdentity,
        warm_up: WarmUp,
        (measured, told): (Measurement, Vec<Told>),
    ) -> Result<Next, Error> {
        let (block, attempt) = (run.block, run.attempt);
        let set_aside = self.police.judge(case, block, &measured);
        let split = user_system_split(run.case.cpus.as_slice().try_into().ok());
        let mut sample = Sample::new(run, warm_up, measured, split);
        sample.set_aside = set_aside;
        sample.instruments = case.watched.by.iter().map(|&name| name.to_owned()).collect();
        sample.twin_of.clone_from(&case.watched.twin_of);
        let probe_ns = sample.cacheline_round_trip_ns;
        sample.cpu_pair_class = probe_ns.and_then(|ns| self.classes.classify(ns, set_aside));
        self.ledger.take(&sample);
        let of_run =
            |(instrument, told)| ObservationRecord::of(&sample.run.run_id, instrument, told);
        let observations: Vec<_> = told.into_iter().map(of_run).collect();
        let seen = observations.iter().cloned().map(Line::Observation);
        let lines: Vec<Line> = std::iter::once(Line::Sample(sample.clone())).chain(seen).collect();
        self.writer.append(lines)?;
        self.outcome.samples.push(sample);
        self.outcome.observations.extend(observations);
        match self.police.repeats(set_aside, attempt) {
            Repeat::Yes => Ok(Next::Again),
            Repeat::No => Ok(Next::Onward),
        }
    }

    fn note(&mut self, identity: RunIdentity, failure: Failure) -> Result<Next, Error> {
        let failed = FailedRun::of(identity, failure);
        self.ledger.settle(&failed.run, Standing::after(&failed));
        self.writer.append(vec![Line::Failure(failed.clone())])?;
        self.outcome.failures.push(failed);
        self.outcome.ending = Ending::SomeFailed;
        Ok(Next::Onward)
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
        self.outcome.settle();
        let is_over = ran.is_ok() && self.outcome.ending != Ending::Interrupted;
        let tally = self.writer.tally();
        let footer = Footer {
            seq: None,
            complete: is_over && !self.outcome.failures.iter().any(|failed| failed.transient),
            samples: tally.samples,
            observations: Some(tally.observations),
            failures: tally.failures,
            lost_lines: tally.lost_lines,
            probe_effects: probe_effects(&self.outcome.samples),
            elapsed_ns: before_ns.saturating_add(took_ns),
            ended: jiff::Timestamp::now().to_string(),
        };
        let closed =
            self.writer.append(vec![Line::Footer(footer)]).and_then(|()| self.writer.release());
        ran.and(closed.map_err(Error::from))?;
        Ok(self.outcome)
    }
}

/// Returns a failure of the worker process itself.
fn worker_failed(place: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Worker, place)
}
