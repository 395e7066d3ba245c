//! Why a study cannot be read, or judged.

use std::io;
use std::path::PathBuf;

use crate::Mistake;

/// What is wrong with a study, or with what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// There are mistakes in the file.
    #[error("{}: {} mistakes", path.display(), mistakes.len())]
    WrongStudy {
        /// The file.
        path: PathBuf,
        /// Each, by line.
        mistakes: Vec<Mistake>,
    },
    /// Its runs cannot be planned.
    #[error(transparent)]
    Plan(#[from] ipcperf_plan::Error),
}

impl Error {
    /// That what was asked for makes no sense, in `words`.
    pub fn usage(words: impl Into<String>) -> Self {
        Self::Usage(words.into())
    }
}
