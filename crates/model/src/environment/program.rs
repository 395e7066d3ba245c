//! The program itself: what it was built from, and how.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The program itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// Version of ipcperf.
    pub version: String,
    /// Commit it was built from; ends in `+` where there were changes.
    pub commit: Option<String>,
    /// How it was built: `release`, or `debug`, which is slow.
    pub build_profile: Option<String>,
    /// The compiler it was built with.
    pub compiler: Option<String>,
    /// What it was built for.
    pub target: Option<String>,
    /// The C library it runs with: copying is its.
    pub c_library: Option<String>,
    /// Whether disturbed runs are excluded. False only where `IPCPERF_KEEP_DISTURBED=1` was set, as tests do.
    pub noise_detection: Option<bool>,
}
