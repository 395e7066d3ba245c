//! `counters`: performance counters of the processor while the peers communicate (instructions, cycles, cache accesses
//! and misses), and events that the kernel counts in the same way, such as page faults.
//!
//! ```text
//! names -> events -> tried -> divided into groups -> opened on each thread of a role -> read by the peers -> rows
//! ```
//!
//! Each thread of a role gets one group of counters, which count all at the same time or not at all, separately in the
//! program and in the kernel. They are enabled from the start: a peer reads its own just before and just after each
//! phase, and the result is the difference. If other users of the counters kept the processor from counting all the
//! time (multiplexing), the count is extrapolated and the running share is reported.

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
pub use crate::unsupported::{known_events, pmu};
#[cfg(target_os = "linux")]
pub(crate) use event::{EventCode, EventError, Machine};
pub use event_sets::{EVENT_SETS, EventSet, find_set, split_list};
#[cfg(target_os = "linux")]
pub use perf::{known_events, pmu};

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
    about: "instructions, cycles, cache and TLB misses, bus accesses, or any other event that the \
            kernel supports",
    needs: "Linux 5.13 or later; a PMU for hardware events (few virtual machines have one); for \
            events in the kernel: root, CAP_PERFMON, or perf_event_paranoid below 2",
    source: Source::Events { available, divide, arm },
};
