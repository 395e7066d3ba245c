//! System calls of each role.

mod row;
mod views;
pub use row::{CallPercentiles, SyscallRow};

use super::{InstrumentFacts, Intrusive};

/// Description of `syscalls`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "syscalls", intrusive: Intrusive::Yes, views: views::views };
