//! A private folder for names in the file system: while a mechanism is opened, or as long as a run takes.

#[cfg(target_os = "linux")]
mod lasting;

use std::path::{Path, PathBuf};

use ipcperf_model::{Failure, FailureKind};
use rustix::process::{Pid, Signal, getpid, getppid, kill_process};

use crate::leftovers::{make_private_folder, remove_owned_folder, run_names, to_cstring};
use crate::platform::parent_death::{parent_process_death_signal, set_parent_process_death_signal};

/// A folder that only its owner may enter, removed with its contents on drop.
#[derive(Debug)]
pub struct TempDir {
    path: PathBuf,
    // Dropped after the folder has been removed.
    _guard: Option<ParentDeathGuard>,
}

impl TempDir {
    /// Makes the folder of this run, to be dropped soon: if the command is killed meanwhile, the worker outlives it until
    /// then. If the worker is killed before it can remove the folder, the command does.
    ///
    /// # Errors
    /// [`FailureKind::SetUp`] if the directory for temporary files is not writable.
    pub fn new() -> Result<Self, Failure> {
        let guard = ParentDeathGuard::new();
        let path = run_names()?.folder();
        make_folder(&path)?;
        Ok(Self { path, _guard: Some(guard) })
    }

    /// Makes the folder of this run, for as long as the run takes. If the command is killed meanwhile, the worker dies. On
    /// Linux it removes the folder before; elsewhere the next command does.
    ///
    /// # Errors
    /// As [`TempDir::new`].
    pub(crate) fn lasting() -> Result<Self, Failure> {
        let path = run_names()?.folder();
        // Before there is anything to remove.
        #[cfg(target_os = "linux")]
        lasting::remove_on_parent_death(&path);
        make_folder(&path)?;
        Ok(Self { path, _guard: None })
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.path
    }

    /// Returns the path of `name` in the folder.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // Errors are ignored: the command tries again.
        if let Some(path) = to_cstring(&self.path) {
            let _ = remove_owned_folder(&path);
        }
    }
}

/// Makes the folder `path`, which only its owner may enter. Fails if it already exists.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    make_private_folder(path).map_err(|error| Failure {
        errno: error.raw_os_error(),
        ..Failure::new(FailureKind::SetUp, format!("creating the folder {}", path.display()))
            .with_remedy("set TMPDIR to a folder you may write to")
    })
}

/// Guard that keeps the death of the parent from ending this process. When it is dropped, that death ends the
/// process again, even if it happened meanwhile. A process that its parent's death would not end is not
/// changed.
#[derive(Debug)]
struct ParentDeathGuard {
    parent: Option<Pid>,
    signal: Option<Signal>,
}

impl ParentDeathGuard {
    fn new() -> Self {
        // Queried before the signal is turned off: a death in between still ends this process.
        let parent = getppid();
        let signal = parent_process_death_signal().unwrap_or_default();
        if signal.is_some() {
            // Cannot fail; if it did, the signal would end this process as usual.
            let _ = set_parent_process_death_signal(None);
        }
        Self { parent, signal }
    }
}

impl Drop for ParentDeathGuard {
    fn drop(&mut self) {
        let Some(signal) = self.signal else { return };
        // Cannot fail: the signal was set before, so its number is valid.
        let _ = set_parent_process_death_signal(Some(signal));
        if getppid() != self.parent {
            // Cannot fail: this process exists.
            let _ = kill_process(getpid(), signal);
        }
    }
}
