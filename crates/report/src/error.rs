//! Why something cannot be shown.

use std::io;
use std::path::PathBuf;

/// What went wrong with a figure or an export.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such format.
    #[error(transparent)]
    Usage(#[from] ipcperf_plan::Error),
    /// A file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A figure cannot be drawn.
    #[error("cannot draw a figure: {0}")]
    Picture(String),
}
