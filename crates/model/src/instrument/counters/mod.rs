//! What the processor and the kernel counted.

mod pictures;
mod row;
pub use row::{Count, Known, Pmu, Ratio, Space};

use super::{Disturbs, InstrumentFacts};

/// What readers know of `counters`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "counters", disturbs: Disturbs::Yes, pictures: pictures::pictures };
