//! Errors of measurements.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use ipcperf_model::Failure;

/// Reason why there is no measurement, with the remedy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    #[error(
        "this is a debug build, which does not measure what users run: use cargo run --release"
    )]
    DebugBuild,
    #[error("{} does not exist: build it with cargo build --release", .0.display())]
    NoIpcperf(PathBuf),
    #[error("cannot start {0}: {1}")]
    Start(String, std::io::Error),
    #[error("{0}: {1}")]
    Io(String, std::io::Error),
    #[error("{program} failed: {status}")]
    ExitStatus { program: String, status: ExitStatus },
    #[error("{program} was not finished after {} s", .deadline.as_secs())]
    Timeout { program: String, deadline: Duration },
    #[error("{program} printed unexpected output: {said}")]
    UnexpectedOutput { program: String, said: String },
    #[error("a run failed: {0}")]
    Run(#[from] Failure),
    #[error("no C compiler ({name}: {error}): install gcc or clang, or set CC")]
    NoCompiler { name: String, error: std::io::Error },
    #[error("{name} cannot compile the C loops: {said}")]
    Compile { name: String, said: String },
    #[error("{program} is not installed: apt install {package}")]
    NoTool { program: &'static str, package: &'static str },
    #[error("{0} failed: {1}")]
    Tool(&'static str, Box<BenchError>),
    #[error("no result")]
    NoValues,
    #[error("{0}: {1}")]
    System(&'static str, rustix::io::Errno),
    #[error("{}: {error}", .path.display())]
    File { path: PathBuf, error: std::io::Error },
}
