//! Data that instruments store, and its presentation. The instruments themselves are in crates above this one.

pub mod bpftrace;
pub mod counters;
pub mod kernel_functions;
pub mod kernel_objects;
pub mod profile;
pub mod rusage;
pub mod sched;
pub mod strace;
pub mod syscalls;
mod timed_calls;
pub mod tool_calls;

use crate::instrument_view::InstrumentView;
use crate::observation::Observation;

/// Description of an instrument for readers of a results file.
#[derive(Debug)]
pub struct InstrumentFacts {
    /// Name used on the command line and in results.
    pub name: &'static str,
    /// Whether the instrument disturbs the runs that it observes.
    pub intrusive: Intrusive,
    /// Function that presents the observations of one run.
    pub views: fn(&[Observation]) -> Vec<InstrumentView>,
}

/// Whether an instrument disturbs the runs that it observes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intrusive {
    /// It does not: it collects data before and after the timed region, or data that is counted anyway.
    No,
    /// It does: it acts at each call or switch, so its runs are kept apart from uninstrumented ones.
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

/// Returns the description of the instrument called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static InstrumentFacts> {
    INSTRUMENTS.iter().copied().find(|instrument| instrument.name == name)
}
