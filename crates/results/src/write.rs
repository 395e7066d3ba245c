//! Writing a results file: each line is appended and handed to the system at once.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, FlockOperation, fallocate, flock};
use rustix::io::Errno;

use super::read::{Results, read_strictly};
use super::record::{Header, Line};
use super::tally::Tally;
use crate::error::Error;
use crate::origin::Origin;

/// Whether an existing file may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// It is kept; the command refuses.
    Refuse,
    /// It is replaced.
    Replace,
}

impl Overwrite {
    /// Whether `path` may be written; asked before anything is measured for it.
    ///
    /// # Errors
    /// Usage where it exists and may not be replaced.
    pub fn permits(self, path: &Path) -> Result<(), Error> {
        match self {
            Self::Refuse if path.exists() => Err(exists(path)),
            Self::Refuse | Self::Replace => Ok(()),
        }
    }
}

fn exists(path: &Path) -> Error {
    Error::Exists(path.to_owned())
}

/// Room that is kept for the next line, and for the footer after it: the longest sample, one with
/// a full histogram, is about 100 KiB.
const ROOM_BYTES: u64 = 256 * 1024;

/// An open results file. One command writes to it at a time.
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
    /// Usage where it exists and may not be replaced; else that it cannot be written.
    pub fn create(path: PathBuf, overwrite: Overwrite, header: Header) -> Result<Self, Error> {
        let mut options = OpenOptions::new();
        // What others may write to is not taken for the user's own when it is resumed.
        options.write(true).mode(0o644);
        match overwrite {
            Overwrite::Refuse => options.create_new(true),
            Overwrite::Replace => options.create(true).truncate(false),
        };
        // Opened for truncation only once it is ours: another command may be writing it.
        match options.open(&path) {
            Ok(file) => {
                open_to_owner(&file);
                let mut writer = Self { file, path, tally: Tally::default() };
                writer.lock()?;
                writer.begin(0)?;
                writer.append(vec![Line::Header(header)])?;
                Ok(writer)
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(exists(&path)),
            Err(source) => Err(Error::Unwritable { path, source }),
        }
    }

    /// Opens the results file at `path` to go on with it: no other command may write to it from now
    /// on. [`Writer::read`] reads it, and [`Writer::go_on`] says where.
    ///
    /// # Errors
    /// Usage where another command is writing to it; else that it cannot be opened.
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

    /// Reads the file, which must have no line that cannot be read, and whose it is.
    ///
    /// # Errors
    /// As [`read_strictly`] has them.
    pub fn read(&self) -> Result<(Results, Origin), Error> {
        let unread = |source| Error::Unreadable { path: self.path.clone(), source };
        let origin = Origin::of(&self.file).map_err(unread)?;
        Ok((read_strictly(&self.file, &self.path)?, origin))
    }

    /// Goes on behind the last whole line of `results`, as which this file was read.
    ///
    /// # Errors
    /// That it cannot be cut.
    pub fn go_on(&mut self, results: &Results) -> Result<(), Error> {
        self.tally = results.condition.tally;
        self.begin(results.condition.whole_bytes)
    }

    /// The lines in the file.
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    /// Keeps other commands from writing here. Where a file system knows no locks, nothing does.
    fn lock(&self) -> Result<(), Error> {
        match flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => Err(Error::Busy(self.path.clone())),
            _ => Ok(()),
        }
    }

    /// Cuts the file off after `bytes`, where its last whole line ends, and goes on from there. What
    /// is no plain file has no length.
    ///
    /// # Errors
    /// That it cannot be cut.
    fn begin(&mut self, bytes: u64) -> Result<(), Error> {
        if !self.file.metadata().is_ok_and(|facts| facts.is_file()) {
            return Ok(());
        }
        let cut = self.file.set_len(bytes);
        cut.and_then(|()| self.file.seek(SeekFrom::Start(bytes)))
            .map(drop)
            .map_err(|source| self.unwritable(source))
    }

    /// Makes sure there is room for another line and the footer. On a full disk it is this that
    /// fails, before a run is made whose sample could not be kept.
    ///
    /// # Errors
    /// That there is no room. A file system that keeps none is taken at its word.
    pub fn reserve(&mut self) -> Result<(), Error> {
        let Ok(end) = self.file.stream_position() else {
            return Ok(());
        };
        match fallocate(self.file.as_fd(), FallocateFlags::KEEP_SIZE, end, ROOM_BYTES) {
            Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => {
                Err(self.unwritable(errno.into()))
            }
            _ => Ok(()),
        }
    }

    /// Gives back the room that is no longer needed.
    ///
    /// # Errors
    /// That the file cannot be cut to its length.
    pub fn release(&mut self) -> Result<(), Error> {
        match self.file.stream_position() {
            Ok(end) => self.begin(end),
            Err(_) => Ok(()),
        }
    }

    fn unwritable(&self, source: std::io::Error) -> Error {
        Error::Unwritable { path: self.path.clone(), source }
    }

    /// Numbers `lines` and appends them, all of them or none: where they do not fit, what was written of them is taken
    /// back, so that a shorter one, the footer, may follow. They go to the system at once: whoever kills the
    /// command leaves no sample without what instruments saw of it.
    ///
    /// # Errors
    /// That it cannot be written.
    pub fn append(&mut self, mut lines: Vec<Line>) -> Result<(), Error> {
        let mut tally = self.tally;
        lines.iter_mut().for_each(|line| tally.number(line));
        let text = lines.iter().map(as_written).collect::<Result<String, std::io::Error>>();
        let start = self.file.stream_position();
        let written = text.and_then(|text| self.file.write_all(text.as_bytes()));
        written.map_err(|source| {
            if let Ok(start) = start {
                // Where this fails too, the line is torn at the end of the file.
                let _ = self.begin(start);
            }
            self.unwritable(source)
        })?;
        self.tally = tally;
        Ok(())
    }

    /// The file that is written.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Lets its owner read `file` again, and go on with it, whatever the umask is.
fn open_to_owner(file: &File) {
    let Ok(facts) = file.metadata() else { return };
    let (mode, owners) = (facts.permissions().mode(), 0o600);
    if facts.is_file() && mode & owners != owners {
        // Where it is refused, the file is another's: then that one said who may read it.
        let _ = file.set_permissions(Permissions::from_mode(mode | owners));
    }
}

fn as_written(line: &Line) -> Result<String, std::io::Error> {
    Ok(serde_json::to_string(line)? + "\n")
}
