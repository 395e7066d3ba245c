//! Errors of figures and exports.

use std::io;
use std::path::PathBuf;

/// An error in a figure or an export.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The format does not exist.
    #[error(transparent)]
    Usage(#[from] ipcperf_plan::Error),
    /// A file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    NotWritten {
        /// Path of the file.
        path: PathBuf,
        /// Reason given by the operating system.
        source: io::Error,
    },
    /// A figure cannot be drawn.
    #[error("cannot draw a figure: {0}")]
    Render(String),
}
