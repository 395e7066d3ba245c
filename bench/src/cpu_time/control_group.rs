//! A control group for the processes of a worker.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::BenchError;

/// Text in front of the CPU time of a group, µs.
const USAGE: &str = "usage_usec ";

/// A control group of version 2, removed on drop.
#[derive(Debug)]
pub(super) struct ControlGroup {
    folder: PathBuf,
}

impl ControlGroup {
    /// Creates a group below the root of the hierarchy of version 2, or says why that is not possible.
    pub(super) fn create() -> Result<Self, String> {
        let mounts = fs::read_to_string("/proc/self/mounts").map_err(|error| error.to_string())?;
        let root = mounts
            .lines()
            .find_map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
                [_, place, "cgroup2", ..] => Some(PathBuf::from(place)),
                _ => None,
            })
            .ok_or("no hierarchy of control groups of version 2 is mounted")?;
        let folder = root.join(format!("ipcperf-bench-{}", std::process::id()));
        fs::create_dir(&folder)
            .map_err(|error| format!("creating {}: {error}", folder.display()))?;
        let group = Self { folder };
        group.cpu_ns().map_err(|error| error.to_string())?;
        Ok(group)
    }

    /// Returns `command`, started in the group. The shell that joins it becomes the command.
    pub(super) fn command(&self, command: &Command) -> Command {
        let mut joining = Command::new("sh");
        joining.args(["-c", r#"echo $$ >"$0" && exec "$@""#]).arg(self.file("cgroup.procs"));
        joining.arg(command.get_program()).args(command.get_args());
        joining
    }

    /// Returns the CPU time of all its processes so far, ns.
    pub(super) fn cpu_ns(&self) -> Result<f64, BenchError> {
        let path = self.file("cpu.stat");
        let text = fs::read_to_string(&path)
            .map_err(|error| BenchError::Io(path.display().to_string(), error))?;
        let usage = text.lines().find_map(|line| line.strip_prefix(USAGE)?.parse::<f64>().ok());
        usage.map(|us| us * 1e3).ok_or_else(|| BenchError::UnexpectedOutput {
            program: path.display().to_string(),
            said: text,
        })
    }

    fn file(&self, name: &str) -> PathBuf {
        Path::new(&self.folder).join(name)
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // Its processes have ended.
        let _ = fs::remove_dir(&self.folder);
    }
}
