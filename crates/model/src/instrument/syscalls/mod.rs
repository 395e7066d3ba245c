//! System calls of each role.

mod pictures;
mod row;
pub use row::{Percentiles, Row};

use super::{Disturbs, InstrumentFacts};

/// What readers know of `syscalls`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "syscalls", disturbs: Disturbs::Yes, pictures: pictures::of };
