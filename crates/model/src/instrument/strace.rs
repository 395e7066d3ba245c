//! System calls as measured by strace, for comparison.

use serde::{Deserialize, Serialize};

use super::{InstrumentFacts, Intrusive, tool_calls};
use crate::instrument_view::InstrumentView;
use crate::observation::Observation;

/// Description of `strace`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "strace", intrusive: Intrusive::Yes, views };

/// Output of strace that could not be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnparsedLines {
    /// Number of lines in an unknown format: their calls are missing from the counts.
    pub unparsed_lines: u64,
}

fn views(observations: &[Observation]) -> Vec<InstrumentView> {
    tool_calls::tables("strace", observations)
}
