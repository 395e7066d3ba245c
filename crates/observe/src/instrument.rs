//! What an instrument is, and the list of all.

use std::fmt::Debug;

use ipcperf_model::instrument::InstrumentFacts;
use ipcperf_model::{Measurement, Observation, Unavailable};

use crate::run_result::{Dial, Played};
use crate::targets::Parties;

/// Something that watches a run.
#[derive(Debug)]
pub struct Instrument {
    /// What readers of results know of it.
    pub facts: &'static InstrumentFacts,
    /// What it tells, in a line.
    pub about: &'static str,
    /// What it needs: privilege, kernel, tool.
    pub needs: &'static str,
    /// Who watches.
    pub source: Source,
}

impl Instrument {
    /// Tries whether it can watch here: the events that it has to do without, each with the reason.
    /// `events` are those that were asked for; none for the instrument's own choice, or where it has none.
    ///
    /// # Errors
    /// Why it cannot watch at all.
    pub fn lacks(&self, events: &[String]) -> Result<Vec<Unavailable>, Unavailable> {
        match self.source {
            Source::Worker { .. } => Ok(Vec::new()),
            Source::Outside { available, .. } => available(),
            Source::Events { available, .. } => available(events),
        }
    }
}

/// Instruments are the same where they have the same name: names occur once.
impl PartialEq for Instrument {
    fn eq(&self, other: &Self) -> bool {
        self.facts.name == other.facts.name
    }
}

/// A watch that is on, or why it is not.
pub type Armed = Result<Box<dyn Watch>, Unavailable>;
/// Events, divided into as many parts as can be had at once; or which word is no event.
pub type Division = Result<Vec<Vec<String>>, Unavailable>;

/// Who watches, and how it is begun.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// The worker, of itself: what it says comes with its report.
    Worker {
        /// What its report says, row by row.
        rows: fn(&Measurement) -> Vec<Observation>,
    },
    /// This crate, from outside.
    Outside {
        /// Whether it can be armed here, found out by trying, event by event: `Ok` names the events it
        /// has to do without, and why.
        available: fn() -> Result<Vec<Unavailable>, Unavailable>,
        /// Begins to watch parties that wait at their gate. When it returns, nothing they do escapes it.
        arm: fn(&Parties) -> Armed,
    },
    /// This crate, from outside, by events that can be chosen.
    Events {
        /// As above, of the events that were asked for; none for the instrument's own choice.
        available: fn(&[String]) -> Result<Vec<Unavailable>, Unavailable>,
        /// Those of them that can be had here, divided into as many parts as can be had at once: each gets
        /// runs of its own.
        ///
        /// # Errors
        /// Which word is no event, and what would be one.
        divide: fn(&[String]) -> Division,
        /// As above, by one of the parts.
        arm: fn(&Parties, &[String]) -> Armed,
    },
}

/// A watch that is on. Dropped, it ends and leaves nothing behind.
pub trait Watch: Debug {
    /// What the parties are to read before and after each phase, if anything.
    fn dials(&self) -> Vec<Dial<'_>> {
        Vec::new()
    }

    /// Is told, before [`Watch::finish`], how the run went.
    fn told(&mut self, _played: &Played) {}

    /// Ends it after the run, and says what it saw of the phase that counted.
    ///
    /// # Errors
    /// Why nothing can be told, though the run may have gone well.
    fn finish(self: Box<Self>) -> Result<Vec<Observation>, Unavailable>;
}
