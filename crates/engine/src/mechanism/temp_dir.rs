//! A private folder for names in the file system that live only while a mechanism is opened.

use std::path::{Path, PathBuf};

use ipcperf_model::{Failure, FailureKind};
use rustix::process::{
    Pid, Signal, getpid, getppid, kill_process, parent_process_death_signal,
    set_parent_process_death_signal,
};

use crate::leftovers::{as_c, make_private_folder, of_run, remove_own};

/// A folder that only its owner may enter, removed with all it holds when dropped. Should the
/// command be killed meanwhile, the worker outlives it until the folder is gone: opening a
/// mechanism waits for nobody.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    // Dropped after the folder has been removed.
    _outlives: Outlives,
}

impl Scratch {
    /// Makes the folder of this run. The command removes it should the worker be killed before it could.
    ///
    /// # Errors
    /// [`FailureKind::SetUp`] where the folder for temporary files cannot be written.
    pub fn new() -> Result<Self, Failure> {
        let outlives = Outlives::parent();
        let path = of_run()?.folder();
        make_folder(&path)?;
        Ok(Self { path, _outlives: outlives })
    }

    /// The path of the folder itself.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.path
    }

    /// The path of `name` in it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing can be done here about a folder that will not go; the command tries once more.
        if let Some(path) = as_c(&self.path) {
            let _ = remove_own(&path);
        }
    }
}

/// Makes the folder `path`, which only its owner may enter. One that is there already is never used.
pub(super) fn make_folder(path: &Path) -> Result<(), Failure> {
    make_private_folder(path).map_err(|error| Failure {
        errno: error.raw_os_error(),
        ..Failure::new(FailureKind::SetUp, format!("making the folder {}", path.display()))
            .with_remedy("set TMPDIR to a folder you may write to")
    })
}

/// While this lives, the death of the parent does not end this process; afterwards it does, also
/// where it came meanwhile. A process that its parent's death would not end is left as it is.
#[derive(Debug)]
struct Outlives {
    parent: Option<Pid>,
    signal: Option<Signal>,
}

impl Outlives {
    fn parent() -> Self {
        // Asked before the signal is held back: one that comes in between still ends this process.
        let parent = getppid();
        let signal = parent_process_death_signal().unwrap_or_default();
        if signal.is_some() {
            // Cannot be refused; then the signal would end this process as ever.
            let _ = set_parent_process_death_signal(None);
        }
        Self { parent, signal }
    }
}

impl Drop for Outlives {
    fn drop(&mut self) {
        let Some(signal) = self.signal else { return };
        // It was set before: it is no number that is no signal.
        let _ = set_parent_process_death_signal(Some(signal));
        if getppid() != self.parent {
            // This process is there to be signalled.
            let _ = kill_process(getpid(), signal);
        }
    }
}
