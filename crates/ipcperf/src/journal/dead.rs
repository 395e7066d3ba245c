//! Journals whose command and workers are all dead, and what they left.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ipcperf_engine::leftovers::{Leftover, RunNames};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::geteuid;

use super::owner::Owner;
use super::{NAME, folder};

/// Journals that one start sweeps at most.
const MOST_SWEPT: usize = 64;
/// Bytes that are read of a journal: far more than a command writes.
const MOST_BYTES: u64 = 1 << 20;
/// After this time a journal from another machine or container is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(30 * 24 * 3600);

/// A journal that nobody holds any more. While it is here nobody else sweeps it.
#[derive(Debug)]
pub(crate) struct DeadJournal {
    path: PathBuf,
    _lock: File,
    /// Who wrote it, where that can be read.
    pub(crate) owner: Option<Owner>,
    runs: Vec<RunNames>,
}

/// Removes what dead commands left, quietly: those who ask are told by `ipcperf doctor`. It waits for nothing.
pub(crate) fn sweep() {
    for journal in journals().take(MOST_SWEPT) {
        journal.clean();
    }
}

/// Every dead journal of this user's.
pub(crate) fn dead() -> Vec<DeadJournal> {
    journals().collect()
}

fn journals() -> impl Iterator<Item = DeadJournal> {
    let here = Owner::this_process();
    let files = folder::existing().into_iter().filter_map(|folder| fs::read_dir(folder).ok());
    files.flatten().flatten().filter_map(move |entry| DeadJournal::at(&entry.path(), &here))
}

impl DeadJournal {
    /// The journal at `path`, where it is one of this user's, from here, and nobody holds it.
    fn at(path: &Path, here: &Owner) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        name.strip_prefix(NAME[0])?.strip_suffix(NAME[1])?;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).ok()?;
        let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
        let status = file.metadata().ok()?;
        if !status.is_file() || status.uid() != geteuid().as_raw() {
            return None;
        }
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        // Another sweeper may have removed it before it gave up the lock.
        let status = file.metadata().ok().filter(|status| status.nlink() > 0)?;
        let (owner, runs) = read(&mut file);
        if owner.as_ref().is_some_and(|owner| owner.is_seen_alive(here)) {
            return None;
        }
        if owner.as_ref().is_some_and(|owner| !owner.is_from_here(here)) {
            let age = status.modified().ok().and_then(|changed| changed.elapsed().ok());
            if age.is_some_and(|age| age > FORGOTTEN_AFTER) {
                let _ = fs::remove_file(path);
            }
            return None;
        }
        Some(Self { path: path.to_owned(), _lock: file, owner, runs })
    }

    /// What is there of the names that its runs may have made.
    pub(crate) fn leftovers(&self) -> Vec<Leftover> {
        self.runs.iter().flat_map(RunNames::present).collect()
    }

    /// Removes all of it, and the journal; returns what would not go, for which the journal stays.
    pub(crate) fn clean(self) -> Vec<Leftover> {
        let left: Vec<Leftover> = self.runs.iter().flat_map(RunNames::remove).collect();
        if left.is_empty() {
            // Before the lock goes with `self`.
            let _ = fs::remove_file(&self.path);
        }
        left
    }
}

/// The owner and the runs that `file` tells of. Lines that are torn or no such thing are passed over.
fn read(file: &mut File) -> (Option<Owner>, Vec<RunNames>) {
    let mut text = Vec::new();
    // What cannot be read tells of nothing.
    let _ = file.take(MOST_BYTES).read_to_end(&mut text);
    let mut lines = text.split(|&byte| byte == b'\n');
    let owner = lines.next().and_then(|line| serde_json::from_slice(line).ok());
    (owner, lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}
