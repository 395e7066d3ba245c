//! Writes a results file. Each line is appended and passed to the system at once.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::read::{Results, read_strictly};
use super::record::{Header, ResultsLine};
use super::tally::Tally;
use crate::error::Error;
use crate::origin::Origin;
use crate::reserve::reserve;

/// Whether an existing file may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// An existing file is kept, and the command fails.
    Refuse,
    /// An existing file is replaced.
    Replace,
}

impl Overwrite {
    /// Checks whether `path` may be written. The command calls this before it measures anything.
    ///
    /// # Errors
    /// Returns an error if the file exists and must not be replaced.
    pub fn check(self, path: &Path) -> Result<(), Error> {
        match self {
            Self::Refuse if path.exists() => Err(exists_error(path)),
            Self::Refuse | Self::Replace => Ok(()),
        }
    }
}

fn exists_error(path: &Path) -> Error {
    let path = path.to_owned();
    if path.is_dir() { Error::Folder(path) } else { Error::Exists(path) }
}

/// Disk space reserved for the next line and for the footer after it, bytes. The longest sample, one with a full
/// histogram, has about 100 KiB.
const RESERVED_BYTES: u64 = 256 * 1024;

/// Open results file. Only one command writes to it at a time.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    tally: Tally,
}

impl Writer {
    /// Creates the file and writes its header.
    ///
    /// # Errors
    /// Returns an error if the file exists and must not be replaced, or if it cannot be written.
    pub fn create(path: PathBuf, overwrite: Overwrite, header: Header) -> Result<Self, Error> {
        let mut options = OpenOptions::new();
        // On resuming, a file that others may write to is not trusted as the user's own.
        options.write(true).mode(0o644);
        match overwrite {
            Overwrite::Refuse => options.create_new(true),
            Overwrite::Replace => options.create(true).truncate(false),
        };
        // The file is truncated only after it is locked, because another command may be writing it.
        match options.open(&path) {
            Ok(file) => {
                grant_owner_access(&file);
                let mut writer = Self { file, path, tally: Tally::default() };
                writer.lock()?;
                writer.truncate(0)?;
                writer.append(vec![ResultsLine::Header(header)])?;
                Ok(writer)
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(exists_error(&path))
            }
            Err(source) => Err(Error::Unwritable { path, source }),
        }
    }

    /// Opens the results file at `path` to resume it. No other command may write to it from now on.
    /// [`Writer::read`] reads it, and [`Writer::resume_after`] sets the position.
    ///
    /// # Errors
    /// Returns an error if another command is writing to the file, or if it cannot be opened.
    pub fn open(path: PathBuf) -> Result<Self, Error> {
        match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => {
                let writer = Self { file, path, tally: Tally::default() };
                writer.lock()?;
                Ok(writer)
            }
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => {
                Err(Error::Unreadable { path, source })
            }
            Err(source) => Err(Error::Unwritable { path, source }),
        }
    }

    /// Reads the file, which must have no unreadable line, and determines its origin.
    ///
    /// # Errors
    /// Returns the same errors as [`read`](crate::read()) with [`Strictness::Strict`](crate::Strictness::Strict).
    pub fn read(&self) -> Result<(Results, Origin), Error> {
        let unread = |source| Error::Unreadable { path: self.path.clone(), source };
        let origin = Origin::from_file(&self.file).map_err(unread)?;
        Ok((read_strictly(&self.file, &self.path)?, origin))
    }

    /// Continues after the last complete line of `results`, which were read from this file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be truncated.
    pub fn resume_after(&mut self, results: &Results) -> Result<(), Error> {
        self.tally = results.completeness.tally;
        self.truncate(results.completeness.whole_bytes)
    }

    /// Returns the counts of the lines in the file.
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    /// Locks the file against other commands. A file system without locks gives no protection.
    fn lock(&self) -> Result<(), Error> {
        match flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => Err(Error::Busy(self.path.clone())),
            _ => Ok(()),
        }
    }

    /// Truncates the file to `bytes`, the end of its last complete line, and continues there. Anything other than a
    /// regular file has no length and is left as it is.
    ///
    /// # Errors
    /// Returns an error if the file cannot be truncated.
    fn truncate(&mut self, bytes: u64) -> Result<(), Error> {
        if !self.file.metadata().is_ok_and(|facts| facts.is_file()) {
            return Ok(());
        }
        let cut = self.file.set_len(bytes);
        cut.and_then(|()| self.file.seek(SeekFrom::Start(bytes)))
            .map(drop)
            .map_err(|source| self.write_error(source))
    }

    /// Reserves disk space for another line and the footer. On a full disk this call fails, before a run is made
    /// whose sample could not be stored.
    ///
    /// # Errors
    /// Returns an error if there is not enough space. A file system that cannot reserve space is assumed to have
    /// enough.
    pub fn reserve(&mut self) -> Result<(), Error> {
        let Ok(end) = self.file.stream_position() else {
            return Ok(());
        };
        match reserve(self.file.as_fd(), end, RESERVED_BYTES) {
            Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => {
                Err(self.write_error(errno.into()))
            }
            _ => Ok(()),
        }
    }

    /// Releases the reserved disk space.
    ///
    /// # Errors
    /// Returns an error if the file cannot be truncated to its length.
    pub fn release(&mut self) -> Result<(), Error> {
        match self.file.stream_position() {
            Ok(end) => self.truncate(end),
            Err(_) => Ok(()),
        }
    }

    fn write_error(&self, source: std::io::Error) -> Error {
        Error::Unwritable { path: self.path.clone(), source }
    }

    /// Numbers `lines` and appends all of them or none. If they do not fit, the part that was written is removed
    /// again, so that a shorter line, the footer, can follow. All lines are passed to the system in one call, so
    /// that a killed command leaves no sample without its observations.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn append(&mut self, mut lines: Vec<ResultsLine>) -> Result<(), Error> {
        let mut tally = self.tally;
        lines.iter_mut().for_each(|line| tally.number(line));
        let text = lines.iter().map(to_json_line).collect::<Result<String, std::io::Error>>();
        let start = self.file.stream_position();
        let written = text.and_then(|text| self.file.write_all(text.as_bytes()));
        written.map_err(|source| {
            if let Ok(start) = start {
                // If this fails too, the file ends with a torn line.
                let _ = self.truncate(start);
            }
            self.write_error(source)
        })?;
        self.tally = tally;
        Ok(())
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Lets the owner of `file` read and resume it, whatever the umask is.
fn grant_owner_access(file: &File) {
    let Ok(facts) = file.metadata() else { return };
    let (mode, owners) = (facts.permissions().mode(), 0o600);
    if facts.is_file() && mode & owners != owners {
        // Fails only if the file belongs to another user, who then decides on its permissions.
        let _ = file.set_permissions(Permissions::from_mode(mode | owners));
    }
}

fn to_json_line(line: &ResultsLine) -> Result<String, std::io::Error> {
    Ok(serde_json::to_string(line)? + "\n")
}
