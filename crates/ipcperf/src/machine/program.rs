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
    /// Whether disturbed runs are excluded. False only where `IPCPERF_KEEP_DISTURBED=1` was set, as tests do.
    pub(crate) noise_detection: Option<bool>,
}

/// Whether disturbed runs are marked, excluded and retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoiseDetection {
    On,
    Off,
}

/// On, unless `IPCPERF_KEEP_DISTURBED` is 1: tests of structure must pass on a busy machine too, where few
/// runs would be left. Stored with the results and warned of, so that nobody takes such figures for a
/// measurement.
pub(crate) fn noise_detection() -> NoiseDetection {
    match std::env::var_os("IPCPERF_KEEP_DISTURBED") {
        Some(value) if value == "1" => NoiseDetection::Off,
        _ => NoiseDetection::On,
    }
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
            noise_detection: Some(noise_detection() == NoiseDetection::On),
        }
    }
}
