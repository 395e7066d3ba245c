//! System calls of each role.

mod pictures;
mod row;
pub use row::{Percentiles, Row};

use super::{Disturbs, InstrumentFacts};

/// Description of `syscalls`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "syscalls", disturbs: Disturbs::Yes, pictures: pictures::pictures };
