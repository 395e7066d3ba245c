//! Events counted by the processor and the kernel.

mod pictures;
mod row;
pub use row::{Count, Known, Pmu, Ratio, Space};

use super::{Disturbs, InstrumentFacts};

/// Description of `counters`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "counters", disturbs: Disturbs::Yes, pictures: pictures::pictures };
