//! Errors of reading and writing a results file.

use std::io;
use std::path::PathBuf;

/// Error of a results file.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write results to {}: {source}", path.display())]
    Unwritable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The file already exists.
    #[error("{} already exists; name another file, or add --force to replace it", .0.display())]
    Exists(PathBuf),
    /// The path is that of a folder.
    #[error("{} is a folder; name a file in it", .0.display())]
    Folder(PathBuf),
    /// Another ipcperf is writing to the file.
    #[error("another ipcperf is writing to {}; wait until it has ended, or name another file", .0.display())]
    Busy(PathBuf),
    /// The file is not a results file, or not one that this version can read.
    #[error("{}: {words}", path.display())]
    Contents {
        /// Path of the file.
        path: PathBuf,
        /// Description of the error, in one line.
        words: String,
    },
}
