//! Time of each role by function and by group of functions.

mod flame;
mod groups;
mod row;
mod views;
pub use flame::flame_graph;
pub use groups::{INFERRED_COPIES, group_of, is_interrupt_enabling};
pub use row::{
    Group, GroupShare, KernelSymbols, ProfileRow, ProfileSummary, SampledThreads, Space, Stack,
    StackFrame, SymbolShare,
};

use super::{InstrumentFacts, Intrusive};

/// Description of `profile`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "profile", intrusive: Intrusive::Yes, views: views::views };
