//! Errors of reading or judging a study.

use std::io;
use std::path::PathBuf;

use crate::Mistake;

/// An error in a study or in how it is used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read the study {}: {source}{}", path.display(), unreadable_hint(source))]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Reason given by the operating system.
        source: io::Error,
    },
    /// The file contains mistakes.
    #[error("{}: {} mistakes", path.display(), mistakes.len())]
    InvalidStudy {
        /// Path of the file.
        path: PathBuf,
        /// The mistakes, sorted by line.
        mistakes: Vec<Mistake>,
    },
    /// The runs of the study cannot be planned.
    #[error(transparent)]
    Plan(#[from] ipcperf_plan::Error),
}

/// Returns what to do about a study that cannot be read.
fn unreadable_hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => "; check the path",
        io::ErrorKind::PermissionDenied => "; check the permissions of the file and of its folder",
        io::ErrorKind::IsADirectory => "; name a study file, not a folder",
        _ => "",
    }
}
