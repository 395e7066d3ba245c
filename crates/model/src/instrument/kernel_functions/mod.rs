//! Kernel functions that carry the data.

mod pictures;
mod row;
pub use row::Row;

use super::{Disturbs, InstrumentFacts};

/// Description of `kernel-functions`.
pub const FACTS: InstrumentFacts = InstrumentFacts {
    name: "kernel-functions",
    disturbs: Disturbs::Yes,
    pictures: pictures::pictures,
};
