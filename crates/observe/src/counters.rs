//! `counters`: what the processor counts while the parties play: instructions, cycles, accesses to caches and
//! what missed them, and what the kernel counts in the same way, such as page faults.
//!
//! ```text
//! words -> event -> tried -> divided into parts -> opened on each thread of a role -> read by the parties -> rows
//! ```
//!
//! Each thread of a role gets one group of counters, which count all at once or not at all, in the program
//! and in the kernel apart. They are on from the beginning: a party reads its own just before and just after
//! each phase, and what counts is the difference. Where the processor has not counted all the time, for
//! others have to be counted as well, what it has is extrapolated, and the share is told.

#[cfg(target_os = "linux")]
mod aliases;
#[cfg(target_os = "linux")]
mod event;
mod event_sets;
#[cfg(target_os = "linux")]
mod perf;
#[cfg(target_os = "linux")]
mod ratios;
#[cfg(all(test, target_os = "linux"))]
mod tests;

#[cfg(not(target_os = "linux"))]
pub use crate::unsupported::{known, pmu};
#[cfg(target_os = "linux")]
pub(crate) use event::{Code, Failed, Machine};
pub use event_sets::{SETS, Set, set, split};
#[cfg(target_os = "linux")]
pub use perf::{known, pmu};

#[cfg(not(target_os = "linux"))]
use crate::unsupported::{
    arm_events as arm, divide_events as divide, events_available as available,
};
#[cfg(target_os = "linux")]
use perf::{arm, available, divide};

use crate::{Instrument, Source};
use ipcperf_model::instrument::counters as facts;

/// The instrument.
pub(crate) const INSTRUMENT: Instrument = Instrument {
    facts: &facts::FACTS,
    about: "instructions, cycles, cache and TLB misses, bus accesses; or any event of the kernel's",
    needs: "Linux 5.13 or later; counters in the processor (few virtual machines have any); the \
            kernel's side takes root, CAP_PERFMON, or perf_event_paranoid below 2",
    source: Source::Events { available, divide, arm },
};
