//! The journal: the names that the current run may create, written down before it starts.
//!
//! ```text
//! a measuring command: clean up after dead commands -> Journal -> record, run, end_run, ... -> removed at the end
//! killed together with its worker: the file stays, its lock goes -> the next start, or doctor --clean
//! ```
//!
//! If the command is killed, its worker removes the names; if the worker is killed, the command does. If both are
//! killed at once, only the journal is left. The command and its workers share a lock (flock) on the file. The kernel
//! releases it when the last of them has ended, whatever the cause and whatever their PID namespace. The file holds a
//! token and never a path to be removed: every name is derived from the token again, and is only removed if it belongs
//! to this user.

mod folder;
mod owner;
mod stale;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ipcperf_engine::leftovers::{Leftover, RunNames, RunToken};
use rustix::fs::{FlockOperation, Mode, fchmod, flock};
use rustix::io::Errno;

pub(crate) use owner::Owner;
pub(crate) use stale::{StaleJournal, clean_up, stale_journals};

use crate::printing::print_message;

/// Prefix and suffix of a journal's name.
const NAME_AFFIXES: [&str; 2] = ["journal-", ".jsonl"];
/// Variable for tests that search for leftovers: with it, journals stay and keep every run.
const KEEP_JOURNALS: &str = "IPCPERF_KEEP_JOURNALS";
/// Maximum attempts to create a file, if another command takes it for dead before it is locked.
const MAX_ATTEMPTS: u32 = 16;

/// Names of this command's runs that may exist.
#[derive(Debug)]
pub(crate) struct Journal {
    /// `None` if no journal can be written.
    journal_file: Option<JournalFile>,
}

#[derive(Debug)]
struct JournalFile {
    file: File,
    path: PathBuf,
    /// Offset of the next line.
    end: u64,
    /// End of the owner's line.
    owner_end: u64,
    keeps_file: bool,
}

impl Journal {
    /// Removes what dead commands left behind, and starts the journal of this command. If the journal cannot be
    /// written, prints one line that says so, and the command continues without it.
    pub(crate) fn start() -> Self {
        clean_up();
        match JournalFile::create() {
            Ok(written) => Self { journal_file: Some(written) },
            Err(why) => {
                print_message(&format!(
                    "ipcperf: cannot create a journal: {why}; if this command is killed, its leftovers will not be \
                     removed; set XDG_STATE_HOME to a folder that you own and can write to"
                ));
                Self { journal_file: None }
            }
        }
    }

    /// Returns the path, for workers to share its lock.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.journal_file.as_ref().map(|written| written.path.as_path())
    }

    /// Writes `names` down before the run may create them.
    pub(crate) fn record(&mut self, names: &RunNames) {
        if self.journal_file.as_ref().is_some_and(JournalFile::is_deleted) {
            self.journal_file = JournalFile::create().ok();
        }
        let Some(written) = &mut self.journal_file else { return };
        if let Err(error) = written.append(names) {
            // Reported once only: a full disk stays full.
            print_message(&format!(
                "ipcperf: cannot write {}: {error}; if this command is killed, its leftovers will not be removed",
                written.path.display()
            ));
            self.journal_file = None;
        }
    }

    /// Ends a run; `left` are the objects that could not be removed.
    pub(crate) fn end_run(&mut self, left: &[Leftover]) {
        if let Some(written) = self.journal_file.as_mut().filter(|_| left.is_empty()) {
            written.truncate();
        }
    }
}

impl JournalFile {
    fn create() -> Result<Self, folder::UnusableFolder> {
        folder::in_first_usable(|folder| {
            let (file, path) = create(folder)?;
            let is_kept = std::env::var_os(KEEP_JOURNALS).is_some();
            let mut written = Self { file, path, end: 0, owner_end: 0, keeps_file: is_kept };
            written.append(&Owner::this_process())?;
            written.owner_end = written.end;
            Ok(written)
        })
    }

    /// Whether another process has removed the file.
    fn is_deleted(&self) -> bool {
        self.file.metadata().is_ok_and(|status| status.nlink() == 0)
    }

    fn append(&mut self, line: &impl serde::Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all_at(&text, self.end)?;
        self.end += text.len() as u64;
        Ok(())
    }

    /// Removes the names of the last run from the file, to keep it short: none of them exists any more.
    fn truncate(&mut self) {
        if !self.keeps_file && self.file.set_len(self.owner_end).is_ok() {
            self.end = self.owner_end;
        }
    }
}

impl Drop for JournalFile {
    /// Keeps the file after a panic, which may leave a worker behind, and if a name could not be removed.
    fn drop(&mut self) {
        if self.end == self.owner_end && !self.keeps_file && !std::thread::panicking() {
            // The file is ours and locked: no other process uses it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Creates a new locked file in `folder`. Another command may take it for dead before it is locked; then another file
/// is created.
fn create(folder: &Path) -> io::Result<(File, PathBuf)> {
    for _ in 0..MAX_ATTEMPTS {
        let path =
            folder.join(format!("{}{}{}", NAME_AFFIXES[0], RunToken::random()?, NAME_AFFIXES[1]));
        let file =
            OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        // The umask may have removed permissions of the owner.
        fchmod(&file, Mode::RUSR | Mode::WUSR)?;
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) if file.metadata()?.nlink() > 0 => return Ok((file, path)),
            Ok(()) | Err(Errno::WOULDBLOCK) => {}
            Err(errno) => {
                let _ = std::fs::remove_file(&path);
                return Err(errno.into());
            }
        }
    }
    Err(Errno::AGAIN.into())
}
