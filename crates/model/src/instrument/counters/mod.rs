//! Events counted by the processor and the kernel.

mod row;
mod views;
pub use row::{EventCount, EventRatio, KnownEvent, Pmu, PrivilegeLevel};

use super::{InstrumentFacts, Intrusive};

/// Description of `counters`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "counters", intrusive: Intrusive::Yes, views: views::views };
