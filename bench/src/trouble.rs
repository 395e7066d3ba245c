//! Errors of measurements.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use ipcperf_model::Failure;

/// Reason why there is no measurement, with the remedy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("built for debugging, which measures the wrong thing: use cargo run --release")]
    DebugBuild,
    #[error("there is no {} to measure: build it with cargo build --release", .0.display())]
    NoIpcperf(PathBuf),
    #[error("{0} could not be started: {1}")]
    Start(String, std::io::Error),
    #[error("{0}: {1}")]
    Talk(String, std::io::Error),
    #[error("{program} {status}")]
    Status { program: String, status: ExitStatus },
    #[error("{program} did not end within {} s", .deadline.as_secs())]
    Deadline { program: String, deadline: Duration },
    #[error("{program} said what cannot be understood: {said}")]
    Nonsense { program: String, said: String },
    #[error("a run failed: {0}")]
    Run(#[from] Failure),
    #[error("no C compiler ({name}: {error}): install gcc or clang, or name one in CC")]
    NoCompiler { name: String, error: std::io::Error },
    #[error("{name} cannot compile the C loops: {said}")]
    Compile { name: String, said: String },
    #[error("no {program} here: apt install {package}")]
    NoPeer { program: &'static str, package: &'static str },
    #[error("{0} failed here: {1}")]
    Peer(&'static str, Box<Trouble>),
    #[error("no figure")]
    NoFigure,
    #[error("{0}: {1}")]
    System(&'static str, rustix::io::Errno),
    #[error("{}: {error}", .path.display())]
    File { path: PathBuf, error: std::io::Error },
}
