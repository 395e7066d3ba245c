//! What is wrong with a file that is no results file.

use std::io;
use std::path::Path;

use ipcperf_model::printable::printable_line;

use crate::error::Error;

/// Why there are no results.
#[derive(Debug)]
pub enum Wrong {
    /// The system does not hand the file over.
    Unreadable(io::Error),
    /// What is in it, in one line.
    Contents(String),
}

impl Wrong {
    pub(super) fn of(self, path: &Path) -> Error {
        match self {
            Self::Unreadable(source) => Error::Unreadable { path: path.to_owned(), source },
            Self::Contents(words) => Error::Contents { path: path.to_owned(), words },
        }
    }
}

/// More characters than this of what is wrong say no more: a line may be anything.
pub(super) const MOST_SAID: usize = 400;

/// `words` in one short line: they may quote the file.
pub(super) fn short(words: &str) -> String {
    printable_line(words).chars().take(MOST_SAID).collect()
}

impl From<String> for Wrong {
    fn from(words: String) -> Self {
        Self::Contents(short(&words))
    }
}

impl From<io::Error> for Wrong {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}
