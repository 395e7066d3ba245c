//! Errors of a file that is not a valid results file.

use std::io;
use std::path::Path;

use ipcperf_model::printable::printable_line;

use crate::error::Error;

/// Reason why a file has no results.
#[derive(Debug)]
pub enum ParseError {
    /// The system cannot read the file.
    Unreadable(io::Error),
    /// The contents are invalid, as described in one line.
    Contents(String),
}

impl ParseError {
    pub(super) fn into_error(self, path: &Path) -> Error {
        match self {
            Self::Unreadable(source) => Error::Unreadable { path: path.to_owned(), source },
            Self::Contents(words) => Error::Contents { path: path.to_owned(), words },
        }
    }
}

/// Maximum length of a message, characters: it may quote a line of any length.
pub(super) const MAX_MESSAGE_CHARS: usize = 400;

/// Shortens `words` to one printable line, because they may quote the file.
pub(super) fn shorten(words: &str) -> String {
    printable_line(words).chars().take(MAX_MESSAGE_CHARS).collect()
}

impl From<String> for ParseError {
    fn from(words: String) -> Self {
        Self::Contents(shorten(&words))
    }
}

impl From<io::Error> for ParseError {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}
