//! The C loops of `bench/c`: compiled on demand, run like a worker.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ipcperf_model::message_options::FirstTouch;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{KernelBuffer, RunSpec};

use crate::error::BenchError;
use crate::process::run_with_input;
use crate::program::program_folder;

const TIMEOUT: Duration = Duration::from_secs(30);
/// Folder of the sources.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/c");

/// The compiled programs.
#[derive(Debug)]
pub(crate) struct CLoops {
    stream: PathBuf,
    borrow: PathBuf,
    round_trip: PathBuf,
}

impl CLoops {
    /// Compiles the programs into the target folder.
    pub(crate) fn compile() -> Result<Self, BenchError> {
        let folder = program_folder()?.join("c-loops");
        std::fs::create_dir_all(&folder)
            .map_err(|error| BenchError::File { path: folder.clone(), error })?;
        Ok(Self {
            stream: compile("stream", &folder)?,
            borrow: compile("borrow", &folder)?,
            round_trip: compile("round_trip", &folder)?,
        })
    }

    /// Executes `spec` and returns its duration in ns.
    pub(crate) fn elapsed_ns(&self, spec: &RunSpec) -> Result<u64, BenchError> {
        let (program, opened) = match (spec.workload, spec.mechanism.as_str()) {
            // The C program opens a pipe; only the way of writing differs.
            (WorkloadKind::Stream, "pipe-borrow") => (&self.borrow, "pipe"),
            (answered, opened) if answered.is_answered() => (&self.round_trip, opened),
            (_, opened) => (&self.stream, opened),
        };
        let cpu = spec.cpus.map_or(0, |[cpu, _]| cpu);
        let mut command = Command::new(program);
        command
            .arg(opened)
            .arg(spec.buffer_bytes.to_string())
            .arg(spec.total_bytes.unwrap_or(spec.buffer_bytes).to_string())
            .arg(cpu.to_string());
        let socket_buffer_bytes = match spec.kernel_buffer {
            KernelBuffer::Plain(bytes) => bytes,
            _ => 0,
        };
        command.arg(socket_buffer_bytes.to_string());
        command
            .args((spec.message_options.first_touch == FirstTouch::Timed).then_some("untouched"));
        let said = run_with_input(&mut command, b"", TIMEOUT)?;
        let said = String::from_utf8_lossy(&said);
        said.trim().parse().map_err(|_| BenchError::UnexpectedOutput {
            program: program.display().to_string(),
            said: said.trim().to_owned(),
        })
    }
}

/// Compiles `name.c` and the common sources with `$CC`, which may contain arguments, or else with `cc`.
fn compile(name: &str, folder: &Path) -> Result<PathBuf, BenchError> {
    let compiler = std::env::var("CC").unwrap_or_default();
    let mut words = compiler.split_whitespace();
    let compiler = words.next().unwrap_or("cc");
    let program = folder.join(name);
    let mut command = Command::new(compiler);
    command.args(words).args(["-O2", "-Wall", "-Wextra", "-o"]).arg(&program);
    command.arg(format!("{SOURCES}/{name}.c")).arg(format!("{SOURCES}/peer.c"));
    let name = compiler.to_owned();
    match command.output() {
        Ok(output) if output.status.success() => Ok(program),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(BenchError::Compile { name, said })
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(BenchError::NoCompiler { name, error })
        }
        Err(error) => Err(BenchError::Start(name, error)),
    }
}
