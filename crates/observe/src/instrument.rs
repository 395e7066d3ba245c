//! Definition of an instrument and the traits that it implements.

use std::fmt::Debug;

use ipcperf_model::instrument::InstrumentFacts;
use ipcperf_model::{Measurement, Observation, Unavailable};

use crate::run_result::{CounterFd, RunResult};
use crate::targets::Targets;

/// An instrument that observes a run.
#[derive(Debug)]
pub struct Instrument {
    /// Name, fields and other facts that readers of results need.
    pub facts: &'static InstrumentFacts,
    /// One-line description of the results.
    pub about: &'static str,
    /// Requirements: privilege, kernel, tool.
    pub needs: &'static str,
    /// Where the observations come from.
    pub source: Source,
}

impl Instrument {
    /// Checks whether the instrument works on this machine. Returns the events that are unavailable, each with the
    /// reason. `events` are the requested events; empty for the default selection, or if the instrument has no events.
    ///
    /// # Errors
    /// The reason why the instrument cannot observe at all.
    pub fn check_available(&self, events: &[String]) -> Result<Vec<Unavailable>, Unavailable> {
        match self.source {
            Source::Worker { .. } => Ok(Vec::new()),
            Source::External { available, .. } => available(),
            Source::Events { available, .. } => available(events),
        }
    }
}

/// Instruments are equal if they have the same name: names are unique.
impl PartialEq for Instrument {
    fn eq(&self, other: &Self) -> bool {
        self.facts.name == other.facts.name
    }
}

/// An active watch, or the reason why it cannot start.
pub type ArmResult = Result<Box<dyn Watch>, Unavailable>;
/// Events divided into groups that can be counted at the same time, or an error for an unknown event.
pub type EventGroupsResult = Result<Vec<Vec<String>>, Unavailable>;

/// Where the observations come from, and how to start observing.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// The worker observes itself: the results are part of its report.
    Worker {
        /// Extracts the observations from the worker's report.
        rows: fn(&Measurement) -> Vec<Observation>,
    },
    /// This crate observes from outside.
    External {
        /// Checks by trying whether the instrument can be armed here. `Ok` lists the events that are unavailable, each
        /// with the reason.
        available: fn() -> Result<Vec<Unavailable>, Unavailable>,
        /// Starts observing peers that wait at their gate. Everything they do after it returns is observed.
        arm: fn(&Targets) -> ArmResult,
    },
    /// This crate observes from outside, with selectable events.
    Events {
        /// As above, for the requested events; empty for the default selection.
        available: fn(&[String]) -> Result<Vec<Unavailable>, Unavailable>,
        /// Divides the available events among the requested ones into groups that can be counted at the same time. Each
        /// group gets separate runs.
        ///
        /// # Errors
        /// The name of an unknown event, with suggestions.
        divide: fn(&[String]) -> EventGroupsResult,
        /// As above, for one of the groups.
        arm: fn(&Targets, &[String]) -> ArmResult,
    },
}

/// An active watch. Dropping it stops it and leaves nothing behind.
pub trait Watch: Debug {
    /// Returns the descriptors that the peers read before and after each phase, if any.
    fn counter_fds(&self) -> Vec<CounterFd<'_>> {
        Vec::new()
    }

    /// Receives the results of the run, before [`Watch::finish`] is called.
    fn set_run_result(&mut self, _result: &RunResult) {}

    /// Stops observing after the run and returns the observations of the measured phase.
    ///
    /// # Errors
    /// The reason why there are no observations, even if the run itself succeeded.
    fn finish(self: Box<Self>) -> Result<Vec<Observation>, Unavailable>;
}
