//! Scheduling of each role.

mod row;
mod views;
pub use row::{SchedRow, Sleep, WakeupPercentiles};

use super::{InstrumentFacts, Intrusive};

/// Description of `sched`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "sched", intrusive: Intrusive::Yes, views: views::views };
