//! Carrying out a plan: block by block, one fresh worker process for each run.

mod interrupt;
mod process;
mod serve;

use std::collections::HashMap;
use std::time::Instant;

pub(crate) use serve::serve_as_worker;

use ipcperf_engine::{Failure, FailureKind, Report};

use crate::error::{Ending, Error};
use crate::output::Progress;
use crate::plan::{Case, Plan, block_order};
use crate::results::{FailedRun, Footer, Line, RunIdentity, Sample, Writer};
use interrupt::Interrupt;

/// What came of a plan.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) samples: Vec<Sample>,
    pub(crate) failures: Vec<FailedRun>,
    pub(crate) ending: Ending,
}

/// A plan under way.
struct Campaign<'a> {
    plan: &'a Plan,
    writer: &'a mut Writer,
    progress: &'a mut Progress,
    interrupt: Interrupt,
    outcome: Outcome,
    /// Main figures of each case so far, for the live median.
    figures: HashMap<String, Vec<f64>>,
}

/// Carries out `plan`, appending each result to `writer`.
///
/// # Errors
/// That results cannot be written, or that no worker can be watched at all. Runs that fail are
/// results like others.
pub(crate) fn run(
    plan: &Plan,
    writer: &mut Writer,
    progress: &mut Progress,
) -> Result<Outcome, Error> {
    let start = Instant::now();
    let interrupt = Interrupt::catch()
        .map_err(|error| Error::Machine(format!("cannot catch signals: {error}")))?;
    process::adopt_orphans();
    let outcome = Outcome { samples: Vec::new(), failures: Vec::new(), ending: Ending::Done };
    let figures = HashMap::new();
    let mut campaign = Campaign { plan, writer, progress, interrupt, outcome, figures };
    campaign.blocks()?;
    campaign.close(start)
}

impl Campaign<'_> {
    fn blocks(&mut self) -> Result<(), Error> {
        for block in 0..self.plan.blocks() {
            let order = block_order(self.plan.cases.len(), self.plan.seed, block);
            for (position, case) in order.into_iter().enumerate() {
                let identity = RunIdentity::of(&self.plan.cases[case], block, position);
                self.one_run(&self.plan.cases[case], identity)?;
                if self.outcome.ending == Ending::Interrupted {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn one_run(&mut self, case: &Case, identity: RunIdentity) -> Result<(), Error> {
        let before = self.figures.get(&case.id).map_or(&[][..], Vec::as_slice);
        self.progress.show(case, before);
        match process::carry_out(&case.spec, self.plan.deadline, &mut self.interrupt) {
            None => self.outcome.ending = Ending::Interrupted,
            Some(Report::Measured(measured)) => self.keep(Sample::of(identity, *measured))?,
            Some(Report::Failed(failure)) => self.note(identity, failure)?,
        }
        Ok(())
    }

    fn keep(&mut self, sample: Sample) -> Result<(), Error> {
        self.writer.append(&Line::Sample(sample.clone()))?;
        if let Some(figure) = crate::summary::main_figure(&sample) {
            self.figures.entry(sample.run.case.case_id.clone()).or_default().push(figure);
        }
        self.outcome.samples.push(sample);
        Ok(())
    }

    fn note(&mut self, identity: RunIdentity, failure: Failure) -> Result<(), Error> {
        let failed = FailedRun::of(identity, failure);
        self.writer.append(&Line::Failure(failed.clone()))?;
        self.outcome.failures.push(failed);
        if self.outcome.ending == Ending::Done {
            self.outcome.ending = Ending::SomeFailed;
        }
        Ok(())
    }

    fn close(self, start: Instant) -> Result<Outcome, Error> {
        self.progress.clear();
        let footer = Footer {
            complete: self.outcome.ending != Ending::Interrupted,
            samples: self.outcome.samples.len() as u64,
            failures: self.outcome.failures.len() as u64,
            elapsed_ns: u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX),
            ended: jiff::Timestamp::now().to_string(),
        };
        self.writer.append(&Line::Footer(footer))?;
        Ok(self.outcome)
    }
}

/// A failure of the worker itself, with the remedy that most often helps.
fn worker_failed(place: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Worker, place)
}
