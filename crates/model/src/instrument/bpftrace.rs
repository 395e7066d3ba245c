//! System calls as measured by bpftrace, for comparison.

use super::{Disturbs, InstrumentFacts, tool_calls};
use crate::instrument_view::Picture;
use crate::observation::Observation;

/// Description of `bpftrace`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "bpftrace", disturbs: Disturbs::Yes, pictures };

fn pictures(observations: &[Observation]) -> Vec<Picture> {
    tool_calls::tables("bpftrace", observations)
}
