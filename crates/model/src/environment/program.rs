//! Build of ipcperf: source, compiler and options.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Build of ipcperf.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// Version of ipcperf.
    pub version: String,
    /// Commit from which ipcperf was built. It ends in `+` if the source tree had uncommitted changes.
    pub commit: Option<String>,
    /// Build profile: `release` or `debug`. A debug build is slow.
    pub build_profile: Option<String>,
    /// Compiler with which ipcperf was built.
    pub compiler: Option<String>,
    /// Target for which ipcperf was built, such as `x86_64-unknown-linux-gnu`.
    pub target: Option<String>,
    /// C library that ipcperf uses. This library provides memcpy.
    pub c_library: Option<String>,
    /// Whether disturbed runs are excluded. The value is false only if the environment variable
    /// `IPCPERF_KEEP_DISTURBED` was set to 1. Only tests should set this variable.
    pub noise_detection: Option<bool>,
}
