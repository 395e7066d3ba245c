//! The program itself: what it was built from, and how.

use ipcperf_engine::host;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The program itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Program {
    /// Version of ipcperf.
    pub(crate) version: String,
    /// Commit it was built from; ends in `+` where there were changes.
    pub(crate) commit: Option<String>,
    /// How it was built: `release`, or `debug`, which is slow.
    pub(crate) build_profile: Option<String>,
    /// The compiler it was built with.
    pub(crate) compiler: Option<String>,
    /// What it was built for.
    pub(crate) target: Option<String>,
    /// The C library it runs with: copying is its.
    pub(crate) c_library: Option<String>,
}

impl Program {
    pub(super) fn read() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: option_env!("IPCPERF_COMMIT").map(str::to_owned),
            build_profile: option_env!("IPCPERF_PROFILE").map(str::to_owned),
            compiler: option_env!("IPCPERF_COMPILER").map(str::to_owned),
            target: option_env!("IPCPERF_TARGET").map(str::to_owned),
            c_library: host::c_library(),
        }
    }
}
