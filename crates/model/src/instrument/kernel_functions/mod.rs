//! Kernel functions that carry the data.

mod row;
mod views;
pub use row::KernelFunctionRow;

use super::{InstrumentFacts, Intrusive};

/// Description of `kernel-functions`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "kernel-functions", intrusive: Intrusive::Yes, views: views::views };
