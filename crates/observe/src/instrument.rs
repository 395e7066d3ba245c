//! What an instrument is, and the list of all.

use std::fmt::Debug;

use crate::picture::Picture;
use crate::{
    Dial, Observation, Parties, Played, bpftrace, counters, kernel_functions, kernel_objects,
    profile, rusage, sched, strace, syscalls,
};

/// Every instrument, in the order of the documentation.
pub const INSTRUMENTS: &[Instrument] = &[
    rusage::INSTRUMENT,
    syscalls::INSTRUMENT,
    sched::INSTRUMENT,
    kernel_functions::INSTRUMENT,
    kernel_objects::INSTRUMENT,
    counters::INSTRUMENT,
    profile::INSTRUMENT,
    strace::STRACE,
    bpftrace::BPFTRACE,
];

/// The instrument called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Instrument> {
    INSTRUMENTS.iter().find(|instrument| instrument.name == name)
}

/// Something that watches a run.
#[derive(Debug)]
pub struct Instrument {
    /// The word used on the command line and in results.
    pub name: &'static str,
    /// What it tells, in a line.
    pub about: &'static str,
    /// What it needs: privilege, kernel, tool.
    pub needs: &'static str,
    /// Whether a run that it watches is still like one that it does not.
    pub disturbs: Disturbs,
    /// Who watches.
    pub source: Source,
    /// What it saw in one run, as people look at it.
    pub pictures: fn(&[Observation]) -> Vec<Picture>,
}

impl Instrument {
    /// Tries whether it can watch here: the events that it has to do without, each with the reason.
    /// `events` are those that were asked for; none for the instrument's own choice, or where it has none.
    ///
    /// # Errors
    /// Why it cannot watch at all.
    pub fn lacks(&self, events: &[String]) -> Result<Vec<Unavailable>, Unavailable> {
        match self.source {
            Source::Worker => Ok(Vec::new()),
            Source::Outside { available, .. } => available(),
            Source::Events { available, .. } => available(events),
        }
    }
}

/// Instruments are the same where they have the same name: names occur once.
impl PartialEq for Instrument {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Whether being watched changes a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbs {
    /// What it tells is found out before and after the timed region, or is counted anyway.
    No,
    /// It does something at each call or switch: runs that it watches are runs of their own.
    Yes,
}

/// A watch that is on, or why it is not.
pub type Armed = Result<Box<dyn Watch>, Unavailable>;
/// Events, divided into as many parts as can be had at once; or which word is no event.
pub type Division = Result<Vec<Vec<String>>, Unavailable>;

/// Who watches, and how it is begun.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// The worker, of itself: what it says comes with its report.
    Worker,
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

/// Why something cannot be had here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} ({remedy})")]
pub struct Unavailable {
    /// What is missing, in a line.
    pub reason: String,
    /// What would help, in a line.
    pub remedy: String,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_and_occur_once() {
        for (index, instrument) in INSTRUMENTS.iter().enumerate() {
            assert!(instrument.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
            assert!(INSTRUMENTS[..index].iter().all(|other| other.name != instrument.name));
        }
    }
}
