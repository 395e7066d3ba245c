//! What instruments store and what their rows look like to people. The instruments themselves are above.

pub mod bpftrace;
pub mod counters;
pub mod kernel_functions;
pub mod kernel_objects;
pub mod profile;
pub mod rusage;
pub mod sched;
pub mod strace;
pub mod syscalls;
pub mod tool_calls;

use crate::instrument_view::Picture;
use crate::observation::Observation;

/// What readers of a results file know of an instrument.
#[derive(Debug)]
pub struct InstrumentFacts {
    /// The word used on the command line and in results.
    pub name: &'static str,
    /// Whether a run that it watches is still like one that it does not.
    pub disturbs: Disturbs,
    /// What it saw in one run, as people look at it.
    pub pictures: fn(&[Observation]) -> Vec<Picture>,
}

/// Whether being watched changes a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbs {
    /// What it tells is found out before and after the timed region, or is counted anyway.
    No,
    /// It does something at each call or switch: runs that it watches are runs of their own.
    Yes,
}

/// Every instrument, in the order of the documentation.
pub const INSTRUMENTS: &[&InstrumentFacts] = &[
    &rusage::FACTS,
    &syscalls::FACTS,
    &sched::FACTS,
    &kernel_functions::FACTS,
    &kernel_objects::FACTS,
    &counters::FACTS,
    &profile::FACTS,
    &strace::FACTS,
    &bpftrace::FACTS,
];

/// What is known of the instrument called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static InstrumentFacts> {
    INSTRUMENTS.iter().copied().find(|instrument| instrument.name == name)
}
