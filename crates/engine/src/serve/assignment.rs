//! The input of a worker: a run, the names that it may make, and the journal that lists them.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use ipcperf_model::RunSpec;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use serde::{Deserialize, Serialize};

use crate::leftovers::{RunNames, path_text};

/// The line of JSON that a worker reads from its standard input. The names are not a part of the [`RunSpec`],
/// which is stored in results files.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Assignment {
    /// The run.
    pub spec: RunSpec,
    /// The names that it may make.
    pub names: RunNames,
    /// The command's journal, in which the names are written down; `None` where it has none.
    #[serde(with = "path_text::optional", default)]
    pub journal: Option<PathBuf>,
    /// Name of the run's processes and threads, as tracing tools show it; `None` leaves ours.
    #[serde(default)]
    pub comm: Option<String>,
}

/// Holds the lock on a journal that says that its names are in use. The lock goes when the last process
/// that inherited the descriptor has ended, however it ended.
#[derive(Debug)]
pub struct JournalLock {
    _file: OwnedFd,
}

impl JournalLock {
    /// Shares the lock on the journal at `path` with the command; `None` where that cannot be had.
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
        let folder = RunNames::draw([]).unwrap().folder();
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
