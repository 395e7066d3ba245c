//! Kind of the peers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of the peers and of their separation.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum Mode {
    /// One thread acts as both peers, non-blocking and interleaved.
    #[serde(rename = "1thread")]
    OneThread,
    /// Two threads of one process.
    #[serde(rename = "2thread")]
    TwoThreads,
    /// Two processes, forked from one worker.
    #[serde(rename = "2proc")]
    TwoProcesses,
    /// Two separately executed programs, which inherit nothing from each other and meet by a name or an address.
    #[serde(rename = "2exec")]
    TwoPrograms,
}

impl Mode {
    /// Every mode, in the order of the documentation.
    pub const ALL: [Self; 4] =
        [Self::OneThread, Self::TwoThreads, Self::TwoProcesses, Self::TwoPrograms];
    /// Modes in which the worker opens the mechanism and the peers inherit it.
    pub const INHERITED: [Self; 3] = [Self::OneThread, Self::TwoThreads, Self::TwoProcesses];

    /// Returns the word used on the command line and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneThread => "1thread",
            Self::TwoThreads => "2thread",
            Self::TwoProcesses => "2proc",
            Self::TwoPrograms => "2exec",
        }
    }
}
