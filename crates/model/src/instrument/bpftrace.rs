//! System calls as measured by bpftrace, for comparison.

use super::{InstrumentFacts, Intrusive, tool_calls};
use crate::instrument_view::InstrumentView;
use crate::observation::Observation;

/// Description of `bpftrace`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "bpftrace", intrusive: Intrusive::Yes, views };

fn views(observations: &[Observation]) -> Vec<InstrumentView> {
    tool_calls::tables("bpftrace", observations)
}
