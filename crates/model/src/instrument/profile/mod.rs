//! Time of each role by function and by group of functions.

mod flame;
mod groups;
mod pictures;
mod row;
pub use flame::flame;
pub use groups::{LEARNED_COPIES, group_of, lets_interrupts_in};
pub use row::{
    Group, GroupShare, KernelSymbols, Reach, Row, Space, Stack, StackFrame, Summary, SymbolShare,
};

use super::{Disturbs, InstrumentFacts};

/// Description of `profile`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "profile", disturbs: Disturbs::Yes, pictures: pictures::pictures };
