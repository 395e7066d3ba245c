//! One run, watched or not: what a plan is made of, and what the documents' programs do outside any.

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

/// Pauses before a run is tried again for which the machine had no room.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(200), Duration::from_millis(800)];

/// Whoever carries out runs one by one.
#[derive(Debug)]
pub(crate) struct Alone {
    interrupt: Interrupt,
    journal: Journal,
    /// Whether there was no room for the last run either, after all pauses: then it is not waited for again.
    is_crowded: bool,
    /// Name of the processes of a run; `None` leaves ours.
    comm: Option<String>,
}

/// Why there is no measurement.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// A signal asked to end.
    Interrupted,
    /// The run failed.
    Failed(Failure),
}

impl Alone {
    /// From now on signals end runs in an orderly way. What dead commands left is removed.
    ///
    /// # Errors
    /// That signals cannot be caught.
    pub(crate) fn ready() -> Result<Self, Error> {
        let interrupt = Interrupt::catch().map_err(|error| {
            let remedy = Errno::from_io_error(&error).and_then(exhausted);
            let remedy = remedy.map_or_else(String::new, |remedy| format!("; {remedy}"));
            Error::Machine(format!("cannot catch signals: {error}{remedy}"))
        })?;
        adopt_orphans();
        Ok(Self { interrupt, journal: Journal::begin(), is_crowded: false, comm: None })
    }

    /// The same, with processes and threads that tracing tools know by `comm`.
    pub(crate) fn called(self, comm: &str) -> Self {
        Self { comm: Some(comm.to_owned()), ..self }
    }

    /// Carries out `spec`, watched by `watched`, within `deadline`; with it what the instruments told. Where the
    /// machine has no room for it, it is tried again a few times.
    ///
    /// # Errors
    /// What stopped it.
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

/// Whether the run was never begun. One that was killed in its midst is not made again at once: whoever killed it may
/// have meant it.
fn is_for_want_of_room(failure: &Failure) -> bool {
    failure.transient && failure.what != FailureKind::Died
}
