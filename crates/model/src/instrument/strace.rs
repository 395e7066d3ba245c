//! System calls as strace sees them, for comparison.

use serde::{Deserialize, Serialize};

use super::{Disturbs, InstrumentFacts, tool_calls};
use crate::instrument_view::Picture;
use crate::observation::Observation;

/// What readers know of `strace`.
pub const FACTS: InstrumentFacts =
    InstrumentFacts { name: "strace", disturbs: Disturbs::Yes, pictures };

/// What strace wrote that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// Lines of no known form: what they told is missing from the counts.
    pub unread_lines: u64,
}

fn pictures(observations: &[Observation]) -> Vec<Picture> {
    tool_calls::tables("strace", observations)
}
