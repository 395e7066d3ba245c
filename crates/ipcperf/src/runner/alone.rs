//! Execution of a single run, with or without instruments. Plans consist of such runs; compatibility programs make them
//! without a plan.

use std::time::Duration;

use ipcperf_engine::exhausted;
use ipcperf_model::{Failure, FailureKind, Measurement, Report, RunSpec};
use rustix::io::Errno;

use super::interrupt::Interrupt;
use super::process::{self, Start};
use super::watch::{Told, Watchers};
use crate::error::Error;
use crate::journal::Journal;
use ipcperf_plan::Watched;
use ipcperf_plan::children::adopt_orphans;

/// Pauses before each retry of a run that the machine had no resources for.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(200), Duration::from_millis(800)];

/// Executor of single runs.
#[derive(Debug)]
pub(crate) struct Alone {
    interrupt: Interrupt,
    journal: Journal,
    /// Whether the last run lacked resources after all retries too; if so, the next run is not retried.
    is_crowded: bool,
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

impl Alone {
    /// Catches signals, which from now on end a run cleanly, and removes what killed commands left behind.
    ///
    /// # Errors
    /// Fails if signals cannot be caught.
    pub(crate) fn ready() -> Result<Self, Error> {
        let interrupt = Interrupt::catch().map_err(|error| {
            let remedy = Errno::from_io_error(&error).and_then(exhausted);
            let remedy = remedy.map_or_else(String::new, |remedy| format!("; {remedy}"));
            Error::Machine(format!("cannot catch signals: {error}{remedy}"))
        })?;
        adopt_orphans();
        Ok(Self { interrupt, journal: Journal::begin(), is_crowded: false, comm: None })
    }

    /// Sets the name (`comm`) under which tracing tools see the processes and threads of a run.
    pub(crate) fn called(self, comm: &str) -> Self {
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
        watched: &Watched,
        deadline: Duration,
    ) -> Result<(Measurement, Vec<Told>), Stopped> {
        let pauses: &[Duration] = if self.is_crowded { &[] } else { &PAUSES };
        for &pause in pauses {
            match self.once(spec, watched, deadline) {
                Err(Stopped::Failed(failure)) if is_for_want_of_room(&failure) => {}
                ended => return ended,
            }
            if self.interrupt.arrives_within(pause) {
                return Err(Stopped::Interrupted);
            }
        }
        let last = self.once(spec, watched, deadline);
        self.is_crowded =
            matches!(&last, Err(Stopped::Failed(failure)) if is_for_want_of_room(failure));
        last
    }

    fn once(
        &mut self,
        spec: &RunSpec,
        watched: &Watched,
        deadline: Duration,
    ) -> Result<(Measurement, Vec<Told>), Stopped> {
        let mut watchers = Watchers::of(watched);
        let Self { interrupt, journal, comm, .. } = self;
        let start = Start { spec, comm: comm.as_deref(), deadline };
        match process::carry_out(&start, journal, &mut watchers, interrupt) {
            None => Err(Stopped::Interrupted),
            Some(Report::Failed(failure)) => Err(Stopped::Failed(failure)),
            Some(Report::Measured(measured)) => {
                let told = watchers.finish(&measured).map_err(Stopped::Failed)?;
                Ok((*measured, told))
            }
        }
    }
}

/// Whether the run never started, for lack of resources. A run that was killed is not retried at once: the kill may
/// have been deliberate.
fn is_for_want_of_room(failure: &Failure) -> bool {
    failure.transient && failure.what != FailureKind::Died
}
