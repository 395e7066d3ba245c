//! Output form of a command's results.

use crate::printing::{Visibility, print_message};

/// Parts of the results that are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Tables,
    /// A JSON array; messages go to standard error.
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

    /// Prints a message to standard error, unless `--quiet` is given.
    pub(super) fn print_message(self, words: &str) {
        if self.visibility() == Visibility::OnTerminal {
            print_message(words);
        }
    }
}
