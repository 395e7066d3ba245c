//! Scheduling of each role.

mod row;
mod slow_row;
mod slow_views;
mod views;
pub use row::{SchedRow, Sleep, WakeupPercentiles};
pub use slow_row::{CauseShare, DelayCause, DelayPart, ExplainedMessage, LISTED, SlowMessagesRow};
pub use slow_views::slow_message_tables;

use super::{InstrumentFacts, Intrusive};

/// Description of `sched`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "sched", intrusive: Intrusive::Yes, views: views::views };
