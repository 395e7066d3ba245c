//! The journal: the names that the run under way may make, written down before it starts.
//!
//! ```text
//! a measuring command: sweep the dead -> Journal -> note, run, settle, ... -> removed at the end
//! killed together with its worker: the file stays, its lock goes -> the next start, or doctor --clean
//! ```
//!
//! A killed command is outlived by its worker, and a killed worker by its command: the other one removes the
//! names. When both are killed at once, the journal is all that is left. The command and its workers share a lock (flock) on the file, which the kernel
//! takes back when the last of them has ended, whatever they died of and whatever PID namespace they were in.
//! The file holds a token and never a path to be removed: every name is derived from the token once more, and
//! is only removed where it belongs to this user.

mod dead;
mod folder;
mod owner;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ipcperf_engine::leftovers::{Leftover, RunNames, RunToken};
use rustix::fs::{FlockOperation, Mode, fchmod, flock};
use rustix::io::Errno;

pub(crate) use dead::{DeadJournal, dead, sweep};
pub(crate) use owner::Owner;

use crate::printing::tell;

/// What a journal's name begins and ends with.
const NAME: [&str; 2] = ["journal-", ".jsonl"];
/// For tests, which look for what their commands left: journals stay, with every run in them.
const KEPT: &str = "IPCPERF_KEEP_JOURNALS";
/// How often a file is made that a sweeper takes for dead before it is locked.
const TRIES: u32 = 16;

/// The names of this command's runs, as far as they may be there.
#[derive(Debug)]
pub(crate) struct Journal {
    /// `None` where none can be written.
    written: Option<Written>,
}

#[derive(Debug)]
struct Written {
    file: File,
    path: PathBuf,
    /// Where the next line goes.
    end: u64,
    /// Where the owner's line ends.
    owner_end: u64,
    is_kept: bool,
}

impl Journal {
    /// Removes what dead commands left, and begins this command's journal. Where that cannot be written,
    /// one line says so, and the command goes on without.
    pub(crate) fn begin() -> Self {
        sweep();
        match Written::begin() {
            Ok(written) => Self { written: Some(written) },
            Err(why) => {
                tell(&format!(
                    "ipcperf: no journal of names: {why}; what a killed run leaves will not be removed: \
                     set XDG_STATE_HOME to a folder of yours that can be written"
                ));
                Self { written: None }
            }
        }
    }

    /// The file, for workers to share its lock.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.written.as_ref().map(|written| written.path.as_path())
    }

    /// Writes down `names`, before the run may make them.
    pub(crate) fn note(&mut self, names: &RunNames) {
        if self.written.as_ref().is_some_and(Written::is_gone) {
            self.written = Written::begin().ok();
        }
        let Some(written) = &mut self.written else { return };
        if let Err(error) = written.append(names) {
            // Not again: what fills up stays full.
            tell(&format!(
                "ipcperf: cannot write {}: {error}; what a killed run leaves will not be removed",
                written.path.display()
            ));
            self.written = None;
        }
    }

    /// The run is over, and `left` is what could not be removed of its names.
    pub(crate) fn settle(&mut self, left: &[Leftover]) {
        if let Some(written) = self.written.as_mut().filter(|_| left.is_empty()) {
            written.forget();
        }
    }
}

impl Written {
    fn begin() -> Result<Self, folder::Unusable> {
        folder::in_the_first_usable(|folder| {
            let (file, path) = create(folder)?;
            let is_kept = std::env::var_os(KEPT).is_some();
            let mut written = Self { file, path, end: 0, owner_end: 0, is_kept };
            written.append(&Owner::this_process())?;
            written.owner_end = written.end;
            Ok(written)
        })
    }

    /// Whether somebody has removed the file.
    fn is_gone(&self) -> bool {
        self.file.metadata().is_ok_and(|status| status.nlink() == 0)
    }

    fn append(&mut self, line: &impl serde::Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all_at(&text, self.end)?;
        self.end += text.len() as u64;
        Ok(())
    }

    /// No name is out: the next line takes the place of those before, so that the file stays short.
    fn forget(&mut self) {
        if !self.is_kept && self.file.set_len(self.owner_end).is_ok() {
            self.end = self.owner_end;
        }
    }
}

impl Drop for Written {
    /// A command that panics may leave a worker, and one that could not remove a name leaves it written down.
    fn drop(&mut self) {
        if self.end == self.owner_end && !self.is_kept && !std::thread::panicking() {
            // It is ours, and locked: nobody else has it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A new file in `folder`, locked. A sweeper may come between its creation and its lock, and take it for dead:
/// then another is made.
fn create(folder: &Path) -> io::Result<(File, PathBuf)> {
    for _ in 0..TRIES {
        let path = folder.join(format!("{}{}{}", NAME[0], RunToken::draw()?, NAME[1]));
        let file =
            OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        // The umask may have taken bits of the owner's.
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
