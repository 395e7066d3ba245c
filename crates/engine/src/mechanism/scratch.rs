//! A private folder for names in the file system that live only while a mechanism is opened.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use crate::{Failure, FailureKind};

/// Where the worker with this process number keeps its names. The command removes it should the
/// worker be killed before it could.
#[must_use]
pub fn scratch_path(worker: u32) -> PathBuf {
    std::env::temp_dir().join(format!("ipcperf-run-{worker}"))
}

/// A folder that only its owner may enter, removed with all it holds when dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes the folder of this process.
    ///
    /// # Errors
    /// [`FailureKind::SetUp`] where the folder for temporary files cannot be written.
    pub fn new() -> Result<Self, Failure> {
        let path = scratch_path(std::process::id());
        DirBuilder::new().mode(0o700).create(&path).map_err(|error| Failure {
            errno: error.raw_os_error(),
            ..Failure::new(FailureKind::SetUp, format!("making the folder {}", path.display()))
                .with_remedy("set TMPDIR to a folder you may write to")
        })?;
        Ok(Self { path })
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
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
