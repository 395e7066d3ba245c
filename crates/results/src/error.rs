//! Why a results file cannot be read or written.

use std::io;
use std::path::PathBuf;

/// What went wrong with a results file.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It cannot be written.
    #[error("cannot write results to {}: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It is there already.
    #[error("{} exists; choose another name or add --force", .0.display())]
    Exists(PathBuf),
    /// Another ipcperf is writing to it.
    #[error("another ipcperf is writing to {}", .0.display())]
    Busy(PathBuf),
    /// It is no results file, or not one that can be read here.
    #[error("{}: {words}", path.display())]
    Contents {
        /// The file.
        path: PathBuf,
        /// What is wrong, in one line.
        words: String,
    },
}
