//! The program under test: the release build of ipcperf in the folder of this program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ipcperf_engine::assignment::Assignment;
use ipcperf_engine::mechanism::draw_names;
use ipcperf_engine::placement::Topology;
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{Measurement, RunSpec, WorkerReport};

use crate::error::BenchError;
use crate::process::run_with_input;

/// Maximum duration of a single run.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The ipcperf that is measured.
#[derive(Clone, Debug)]
pub(crate) struct Ipcperf {
    path: PathBuf,
}

impl Ipcperf {
    /// Finds the one in the folder of this program.
    pub(crate) fn find() -> Result<Self, BenchError> {
        if cfg!(debug_assertions) {
            return Err(BenchError::DebugBuild);
        }
        let path = program_folder()?.join("ipcperf");
        if path.is_file() { Ok(Self { path }) } else { Err(BenchError::NoIpcperf(path)) }
    }

    /// Returns the command, without arguments.
    pub(crate) fn command(&self) -> Command {
        Command::new(&self.path)
    }

    /// Returns its version and path.
    pub(crate) fn version(&self) -> Result<String, BenchError> {
        let said = run_with_input(self.command().arg("--version"), b"", TIMEOUT)?;
        let said = String::from_utf8_lossy(&said);
        Ok(format!("{} at {}", said.trim(), self.path.display()))
    }

    /// Executes one run in a fresh worker process.
    pub(crate) fn measure(&self, spec: &RunSpec) -> Result<Measurement, BenchError> {
        self.measure_by(self.worker(), spec)
    }

    /// Returns the command that starts a worker, a child of this process.
    pub(crate) fn worker(&self) -> Command {
        let mut worker = self.command();
        worker.arg("worker").arg(std::process::id().to_string());
        worker
    }

    /// Executes one run in the worker that `worker` starts.
    pub(crate) fn measure_by(
        &self,
        mut worker: Command,
        spec: &RunSpec,
    ) -> Result<Measurement, BenchError> {
        let names = draw_names(spec)?;
        let assignment = Assignment { spec: spec.clone(), names, journal: None, comm: None };
        let request = serde_json::to_vec(&assignment)
            .map_err(|error| BenchError::Io("a run".to_owned(), error.into()))?;
        let said = run_with_input(&mut worker, &request, TIMEOUT)?;
        match serde_json::from_slice(&said) {
            Ok(WorkerReport::Measured(measurement)) => Ok(*measurement),
            Ok(WorkerReport::Failed(failure)) => Err(failure.into()),
            Err(error) => Err(BenchError::UnexpectedOutput {
                program: "ipcperf worker".to_owned(),
                said: error.to_string(),
            }),
        }
    }

    /// Returns `spec` with the total, in whole messages, that takes about `aim`; measured with a calibrated run.
    pub(crate) fn calibrate(&self, spec: RunSpec, aim: Duration) -> Result<RunSpec, BenchError> {
        let pilot = self.measure(&spec)?;
        let elapsed_ns = u128::from(pilot.elapsed_ns.max(1));
        let scaled = u128::from(pilot.messages) * aim.as_nanos() / elapsed_ns;
        let messages = u64::try_from(scaled).unwrap_or(u64::MAX).max(1);
        let total_bytes = Some(messages.saturating_mul(spec.buffer_bytes));
        Ok(RunSpec { total_bytes, ..spec })
    }
}

/// Returns the folder of this program, which is the target folder of the build.
pub(crate) fn program_folder() -> Result<PathBuf, BenchError> {
    let own = std::env::current_exe().map_err(|error| {
        BenchError::Io("finding the executable of this program".to_owned(), error)
    })?;
    Ok(own.parent().map_or_else(PathBuf::new, Path::to_path_buf))
}

/// Returns the CPUs of sender and receiver under `placement`, or the reason why there are none.
pub(crate) fn cpus(placement: Placement) -> Result<[u32; 2], String> {
    let topology = Topology::read().map_err(|errno| errno.to_string())?;
    let cpus = topology.resolve(placement).map_err(|error| error.to_string())?;
    cpus.ok_or_else(|| format!("placement {placement} has no CPUs"))
}

/// Returns a run of `mechanism` between two processes, with defaults for everything else.
pub(crate) fn spec(
    mechanism: &str,
    workload: WorkloadKind,
    cpus: [u32; 2],
    buffer_bytes: u64,
) -> RunSpec {
    RunSpec { workload, cpus: Some(cpus), ..RunSpec::with_defaults(mechanism, buffer_bytes) }
}
