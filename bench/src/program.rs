//! The program under test: the release build of ipcperf in the folder of this program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ipcperf_engine::mechanism::draw_names;
use ipcperf_engine::placement::Topology;
use ipcperf_engine::serve::Assignment;
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::Kind;
use ipcperf_model::{Measurement, Report, RunSpec};

use crate::process::converse;
use crate::trouble::Trouble;

/// Maximum duration of a single run.
const DEADLINE: Duration = Duration::from_secs(30);

/// The ipcperf that is measured.
#[derive(Clone, Debug)]
pub(crate) struct Ipcperf {
    path: PathBuf,
}

impl Ipcperf {
    /// Finds the one in the folder of this program.
    pub(crate) fn find() -> Result<Self, Trouble> {
        if cfg!(debug_assertions) {
            return Err(Trouble::DebugBuild);
        }
        let path = own_folder()?.join("ipcperf");
        if path.is_file() { Ok(Self { path }) } else { Err(Trouble::NoIpcperf(path)) }
    }

    /// Returns the command, without arguments.
    pub(crate) fn command(&self) -> Command {
        Command::new(&self.path)
    }

    /// Returns its version and path.
    pub(crate) fn version(&self) -> Result<String, Trouble> {
        let said = converse(self.command().arg("--version"), b"", DEADLINE)?;
        let said = String::from_utf8_lossy(&said);
        Ok(format!("{} at {}", said.trim(), self.path.display()))
    }

    /// Executes one run in a fresh worker process.
    pub(crate) fn measure(&self, spec: &RunSpec) -> Result<Measurement, Trouble> {
        let names = draw_names(spec)?;
        let assignment = Assignment { spec: spec.clone(), names, journal: None, comm: None };
        let asked = serde_json::to_vec(&assignment)
            .map_err(|error| Trouble::Talk("a run".to_owned(), error.into()))?;
        let mut worker = self.command();
        worker.arg("worker").arg(std::process::id().to_string());
        let said = converse(&mut worker, &asked, DEADLINE)?;
        match serde_json::from_slice(&said) {
            Ok(Report::Measured(measurement)) => Ok(*measurement),
            Ok(Report::Failed(failure)) => Err(failure.into()),
            Err(error) => Err(Trouble::Nonsense {
                program: "ipcperf worker".to_owned(),
                said: error.to_string(),
            }),
        }
    }

    /// Returns `spec` with the total, in whole messages, that takes about `aim`; measured with a calibrated run.
    pub(crate) fn sized(&self, spec: RunSpec, aim: Duration) -> Result<RunSpec, Trouble> {
        let pilot = self.measure(&spec)?;
        let elapsed_ns = u128::from(pilot.elapsed_ns.max(1));
        let scaled = u128::from(pilot.messages) * aim.as_nanos() / elapsed_ns;
        let messages = u64::try_from(scaled).unwrap_or(u64::MAX).max(1);
        let total_bytes = Some(messages.saturating_mul(spec.buffer_bytes));
        Ok(RunSpec { total_bytes, ..spec })
    }
}

/// Returns the folder of this program, which is the target folder of the build.
pub(crate) fn own_folder() -> Result<PathBuf, Trouble> {
    let own = std::env::current_exe()
        .map_err(|error| Trouble::Talk("finding this program".to_owned(), error))?;
    Ok(own.parent().map_or_else(PathBuf::new, Path::to_path_buf))
}

/// Returns the CPUs of sender and receiver under `placement`, or the reason why there are none.
pub(crate) fn cpus(placement: Placement) -> Result<[u32; 2], String> {
    let topology = Topology::read().map_err(|errno| errno.to_string())?;
    let cpus = topology.resolve(placement).map_err(|error| error.to_string())?;
    cpus.ok_or_else(|| format!("placement {placement} names no CPUs"))
}

/// Returns a run of `mechanism` between two processes, with defaults for everything else.
pub(crate) fn spec(mechanism: &str, workload: Kind, cpus: [u32; 2], buffer_bytes: u64) -> RunSpec {
    RunSpec { workload, cpus: Some(cpus), ..RunSpec::usual(mechanism, buffer_bytes) }
}
