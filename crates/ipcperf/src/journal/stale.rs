//! Journals whose command and workers are all dead, and the objects that they left behind.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ipcperf_engine::leftovers::{Leftover, RunNames};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::geteuid;

use super::owner::Owner;
use super::{NAME_AFFIXES, folder};

/// Maximum number of journals that are cleaned up at one start.
const MAX_JOURNALS: usize = 64;
/// Maximum number of bytes read from a journal: far more than a command writes.
const MAX_BYTES: u64 = 1 << 20;
/// Age after which a journal from another machine or container is deleted.
const MAX_FOREIGN_AGE: Duration = Duration::from_secs(30 * 24 * 3600);

/// A journal that no process holds any more. Its lock keeps other commands from cleaning up at the same time.
#[derive(Debug)]
pub(crate) struct StaleJournal {
    path: PathBuf,
    _lock: File,
    /// Command that wrote it, if that can be read.
    pub(crate) owner: Option<Owner>,
    runs: Vec<RunNames>,
}

/// Removes what dead commands left behind, silently: `ipcperf doctor` reports it on request. Never blocks.
pub(crate) fn clean_up() {
    for journal in journals().take(MAX_JOURNALS) {
        journal.clean();
    }
}

/// Returns every dead journal of this user.
pub(crate) fn stale_journals() -> Vec<StaleJournal> {
    journals().collect()
}

fn journals() -> impl Iterator<Item = StaleJournal> {
    let here = Owner::this_process();
    let files = folder::existing().into_iter().filter_map(|folder| fs::read_dir(folder).ok());
    files.flatten().flatten().filter_map(move |entry| StaleJournal::open(&entry.path(), &here))
}

impl StaleJournal {
    /// Opens the journal at `path`, if it belongs to this user and this machine and no process holds it.
    fn open(path: &Path, here: &Owner) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        name.strip_prefix(NAME_AFFIXES[0])?.strip_suffix(NAME_AFFIXES[1])?;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).ok()?;
        let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
        let status = file.metadata().ok()?;
        if !status.is_file() || status.uid() != geteuid().as_raw() {
            return None;
        }
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        // Another command may have removed the file before it released the lock.
        let status = file.metadata().ok().filter(|status| status.nlink() > 0)?;
        let (owner, runs) = read(&mut file);
        if owner.as_ref().is_some_and(|owner| owner.is_alive(here)) {
            return None;
        }
        if owner.as_ref().is_some_and(|owner| !owner.is_from_this_machine(here)) {
            let age = status.modified().ok().and_then(|changed| changed.elapsed().ok());
            if age.is_some_and(|age| age > MAX_FOREIGN_AGE) {
                let _ = fs::remove_file(path);
            }
            return None;
        }
        Some(Self { path: path.to_owned(), _lock: file, owner, runs })
    }

    /// Returns the objects that exist under the names of its runs.
    pub(crate) fn leftovers(&self) -> Vec<Leftover> {
        self.runs.iter().flat_map(RunNames::existing).collect()
    }

    /// Removes all of them and the journal. Returns those that cannot be removed; if there are any, the journal stays.
    pub(crate) fn clean(self) -> Vec<Leftover> {
        let left: Vec<Leftover> = self.runs.iter().flat_map(RunNames::remove).collect();
        if left.is_empty() {
            // Before the lock is released with `self`.
            let _ = fs::remove_file(&self.path);
        }
        left
    }
}

/// Reads the owner and the runs from `file`. Torn or unknown lines are skipped.
fn read(file: &mut File) -> (Option<Owner>, Vec<RunNames>) {
    let mut text = Vec::new();
    // A journal that cannot be read counts as empty.
    let _ = file.take(MAX_BYTES).read_to_end(&mut text);
    let mut lines = text.split(|&byte| byte == b'\n');
    let owner = lines.next().and_then(|line| serde_json::from_slice(line).ok());
    (owner, lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}
