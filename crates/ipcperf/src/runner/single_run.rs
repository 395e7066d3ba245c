//! Execution of a single run, with or without instruments. Plans consist of such runs; compatibility programs make them
//! without a plan.

use std::time::Duration;

use ipcperf_engine::exhaustion_remedy;
use ipcperf_model::{Failure, FailureKind, Measurement, RunSpec, WorkerReport};
use rustix::io::Errno;

use super::instruments::{InstrumentObservation, RunInstruments};
use super::interrupt::Interrupt;
use super::process::{self, WorkerParams};
use crate::error::Error;
use crate::journal::Journal;
use ipcperf_plan::CaseInstruments;
use ipcperf_plan::children::adopt_orphans;

/// Pauses before each retry of a run that the machine had no resources for.
const RETRY_PAUSES: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(200), Duration::from_millis(800)];

/// Executor of single runs.
#[derive(Debug)]
pub(crate) struct SingleRunner {
    interrupt: Interrupt,
    journal: Journal,
    /// Whether the last run lacked resources after all retries too; if so, the next run is not retried.
    is_short_of_resources: bool,
    /// Name (`comm`) of the processes of a run; `None` keeps the name of this program.
    comm: Option<String>,
}

/// Reason why there is no measurement.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// A signal asked the command to end.
    Interrupted,
    /// The run failed.
    Failed(Failure),
}

impl SingleRunner {
    /// Catches signals, which from now on end a run cleanly, and removes what killed commands left behind.
    ///
    /// # Errors
    /// Fails if signals cannot be caught.
    pub(crate) fn new() -> Result<Self, Error> {
        let interrupt = Interrupt::catch().map_err(|error| {
            let remedy = Errno::from_io_error(&error).and_then(exhaustion_remedy);
            let remedy = remedy.map_or_else(String::new, |remedy| format!("; {remedy}"));
            Error::Machine(format!("cannot catch signals: {error}{remedy}"))
        })?;
        adopt_orphans();
        Ok(Self { interrupt, journal: Journal::start(), is_short_of_resources: false, comm: None })
    }

    /// Sets the name (`comm`) under which tracing tools see the processes and threads of a run.
    pub(crate) fn with_comm(self, comm: &str) -> Self {
        Self { comm: Some(comm.to_owned()), ..self }
    }

    /// Executes `spec`, observed by `watched`, within `deadline`; returns the measurement and what the instruments
    /// reported. A run that the machine lacks resources for is retried a few times.
    ///
    /// # Errors
    /// Returns the reason why the run was stopped.
    pub(crate) fn run(
        &mut self,
        spec: &RunSpec,
        watched: &CaseInstruments,
        deadline: Duration,
    ) -> Result<(Measurement, Vec<InstrumentObservation>), Stopped> {
        let pauses: &[Duration] = if self.is_short_of_resources { &[] } else { &RETRY_PAUSES };
        for &pause in pauses {
            match self.attempt(spec, watched, deadline) {
                Err(Stopped::Failed(failure)) if is_resource_shortage(&failure) => {}
                ended => return ended,
            }
            if self.interrupt.wait(pause) {
                return Err(Stopped::Interrupted);
            }
        }
        let last = self.attempt(spec, watched, deadline);
        self.is_short_of_resources =
            matches!(&last, Err(Stopped::Failed(failure)) if is_resource_shortage(failure));
        last
    }

    fn attempt(
        &mut self,
        spec: &RunSpec,
        watched: &CaseInstruments,
        deadline: Duration,
    ) -> Result<(Measurement, Vec<InstrumentObservation>), Stopped> {
        let mut watchers = RunInstruments::new(watched, spec.pacing);
        let Self { interrupt, journal, comm, .. } = self;
        let start = WorkerParams { spec, comm: comm.as_deref(), timeout: deadline };
        match process::execute(&start, journal, &mut watchers, interrupt) {
            None => Err(Stopped::Interrupted),
            Some(WorkerReport::Failed(failure)) => Err(Stopped::Failed(failure)),
            Some(WorkerReport::Measured(measured)) => {
                let told = watchers.finish(&measured).map_err(Stopped::Failed)?;
                Ok((*measured, told))
            }
        }
    }
}

/// Whether the run never started, for lack of resources. A run that was killed is not retried at once: the kill may
/// have been deliberate.
fn is_resource_shortage(failure: &Failure) -> bool {
    failure.transient && failure.what != FailureKind::Died
}
