//! How a command's outcome is printed.

use crate::printing::{Visibility, tell};

/// What is printed of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Tables,
    /// A JSON array; the rest is told beside it.
    Json,
    /// A JSON array and nothing else.
    QuietJson,
    Quiet,
}

impl Form {
    pub(super) const fn visibility(self) -> Visibility {
        match self {
            Self::Tables | Self::Json => Visibility::OnTerminal,
            Self::QuietJson | Self::Quiet => Visibility::Quiet,
        }
    }

    /// Tells what is not for `--quiet`.
    pub(super) fn tell(self, words: &str) {
        if self.visibility() == Visibility::OnTerminal {
            tell(words);
        }
    }
}
