//! Scheduling of each role.

mod pictures;
mod row;
pub use row::{Percentiles, Row, Sleep};

use super::{Disturbs, InstrumentFacts};

/// Description of `sched`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "sched", disturbs: Disturbs::Yes, pictures: pictures::pictures };
