//! Build information of the program.

use ipcperf_engine::host;
use ipcperf_model::environment::{Environment, Program};
use ipcperf_plan::machine::{self, NoiseDetection, noise_detection};

/// Returns the environment that results record: the machine and this build.
pub(crate) fn environment() -> Environment {
    machine::environment(program())
}

fn program() -> Program {
    Program {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("IPCPERF_COMMIT").map(str::to_owned),
        build_profile: option_env!("IPCPERF_PROFILE").map(str::to_owned),
        compiler: option_env!("IPCPERF_COMPILER").map(str::to_owned),
        target: option_env!("IPCPERF_TARGET").map(str::to_owned),
        c_library: host::c_library(),
        noise_detection: Some(noise_detection() == NoiseDetection::On),
    }
}
