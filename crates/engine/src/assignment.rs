//! Input of a worker, or of a peer in a separate program: a run, the names that it may create, and the journal that lists
//! them.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use ipcperf_model::RunSpec;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use serde::{Deserialize, Serialize};

use crate::channel::ProgramPart;
use crate::leftovers::{RunNames, path_text};

/// One line of JSON that a worker reads from its standard input. The names are not part of the [`RunSpec`], which is
/// stored in results files.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Assignment {
    /// Specification of the run.
    pub spec: RunSpec,
    /// Names that the run may create.
    pub names: RunNames,
    /// The command's journal, which records the names; `None` if it has none.
    #[serde(with = "path_text::optional", default)]
    pub journal: Option<PathBuf>,
    /// Name of the run's processes and threads in tracing tools; `None` keeps the default.
    #[serde(default)]
    pub comm: Option<String>,
}

/// One line of JSON that a peer in a separate program reads from its standard input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PeerAssignment {
    /// Assignment of the worker.
    pub assignment: Assignment,
    /// Its part of the run.
    pub program: ProgramPart,
}

/// A lock on a journal that marks its names as in use. The kernel releases it when the last process that inherited the
/// descriptor ends, however it ends.
#[derive(Debug)]
pub struct JournalLock {
    _file: OwnedFd,
}

impl JournalLock {
    /// Shares the lock on the journal at `path` with the command; `None` if that fails.
    #[must_use]
    pub fn share(path: &Path) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = open(path, flags, Mode::empty()).ok()?;
        flock(&file, FlockOperation::NonBlockingLockShared).ok()?;
        Some(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;
    use crate::leftovers::{RunNames, make_private_folder};

    #[test]
    fn a_journal_that_is_held_is_not_swept_and_the_other_way_round() {
        let folder = RunNames::new([]).unwrap().folder();
        make_private_folder(&folder).unwrap();
        let path = folder.join("journal");
        assert!(JournalLock::share(&path).is_none());
        std::fs::write(&path, "").unwrap();
        let held = JournalLock::share(&path).unwrap();
        let sweeper = std::fs::File::open(&path).unwrap();
        let exclusive = FlockOperation::NonBlockingLockExclusive;
        assert_eq!(flock(&sweeper, exclusive), Err(Errno::WOULDBLOCK));
        drop(held);
        flock(&sweeper, exclusive).unwrap();
        assert!(JournalLock::share(&path).is_none());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
