//! Build of ipcperf: source, compiler and options.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Build of ipcperf.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// Version of ipcperf.
    pub version: String,
    /// Commit that it was built from; ends in `+` if the tree had uncommitted changes.
    pub commit: Option<String>,
    /// Build profile: `release`, or `debug`, which is slow.
    pub build_profile: Option<String>,
    /// Compiler that it was built with.
    pub compiler: Option<String>,
    /// Target that it was built for.
    pub target: Option<String>,
    /// C library that it runs with, which provides memcpy.
    pub c_library: Option<String>,
    /// Whether disturbed runs are excluded. False only where `IPCPERF_KEEP_DISTURBED=1` was set, as tests do.
    pub noise_detection: Option<bool>,
}
