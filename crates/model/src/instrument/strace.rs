//! System calls as measured by strace, for comparison.

use serde::{Deserialize, Serialize};

use super::{Disturbs, InstrumentFacts, tool_calls};
use crate::instrument_view::Picture;
use crate::observation::Observation;

/// Description of `strace`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "strace", disturbs: Disturbs::Yes, pictures };

/// Output of strace that could not be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// Number of lines in an unknown format: their calls are missing from the counts.
    pub unread_lines: u64,
}

fn pictures(observations: &[Observation]) -> Vec<Picture> {
    tool_calls::tables("strace", observations)
}
