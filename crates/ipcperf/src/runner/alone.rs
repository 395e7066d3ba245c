//! One run, watched or not: what a plan is made of, and what the documents' programs do outside any.

use std::time::Duration;

use ipcperf_engine::{Failure, Measurement, Report, RunSpec};

use super::interrupt::Interrupt;
use super::process;
use super::watch::{Told, Watchers};
use crate::error::Error;
use crate::journal::Journal;
use crate::plan::Watched;

/// Whoever carries out runs one by one.
#[derive(Debug)]
pub(crate) struct Alone {
    interrupt: Interrupt,
    journal: Journal,
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
        let interrupt = Interrupt::catch()
            .map_err(|error| Error::Machine(format!("cannot catch signals: {error}")))?;
        process::adopt_orphans();
        Ok(Self { interrupt, journal: Journal::begin() })
    }

    /// Carries out `spec`, watched by `watched`, within `deadline`; with it what the instruments told.
    ///
    /// # Errors
    /// What stopped it.
    pub(crate) fn run(
        &mut self,
        spec: &RunSpec,
        watched: &Watched,
        deadline: Duration,
    ) -> Result<(Measurement, Vec<Told>), Stopped> {
        let mut watchers = Watchers::of(watched);
        let Self { interrupt, journal } = self;
        match process::carry_out(spec, journal, &mut watchers, deadline, interrupt) {
            None => Err(Stopped::Interrupted),
            Some(Report::Failed(failure)) => Err(Stopped::Failed(failure)),
            Some(Report::Measured(measured)) => {
                let told = watchers.finish(&measured).map_err(Stopped::Failed)?;
                Ok((*measured, told))
            }
        }
    }
}
